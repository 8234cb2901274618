// Live updates, filtering while typing, copying, and keys. Every page works without this file. The server escapes
// what it sends as HTML; text is inserted as text.
'use strict';

const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

function parse(html, inTable) {
  const template = document.createElement('template');
  template.innerHTML = html;
  return inTable ? find('tr', template.content) : template.content;
}

// A run that is in progress.
function follow() {
  const summary = find('[data-events]');
  if (!summary || !window.EventSource) return;
  const rows = find('#candidates tbody');
  const console_ = find('#console');
  const state = find('[data-connection]');
  let last = Number(summary.dataset.after) || 0;
  const source = new EventSource(`${summary.dataset.events}?after=${last}`);
  const say = (words, lost) => {
    if (!state) return;
    state.textContent = words;
    state.classList.toggle('lost', Boolean(lost));
  };
  source.addEventListener('open', () => say('following'));
  source.addEventListener('error', () => say('connection lost, trying again', true));
  source.addEventListener('summary', (event) => {
    const html = JSON.parse(event.data).html;
    if (summary.dataset.shown === html) return;
    summary.dataset.shown = html;
    summary.replaceChildren(parse(html));
  });
  source.addEventListener('plot', (event) => {
    // An opened table of numbers stays open, and the focus stays where it is in the graph.
    const plot = find('#plot');
    const open = new Set(findAll('figure', plot).filter((each) => find('details', each)?.open).map((each) => each.id));
    const held = plot.contains(document.activeElement) && document.activeElement.dataset.key;
    const across = findAll('.drawing', plot).map((each) => each.scrollLeft);
    plot.replaceChildren(parse(JSON.parse(event.data).html));
    for (const each of findAll('figure', plot)) if (open.has(each.id)) find('details', each).open = true;
    findAll('.drawing', plot).forEach((each, index) => { each.scrollLeft = across[index] || 0; });
    oneStopPerGraph();
    if (held) visibleNodes().find((each) => each.dataset.key === held)?.focus({ preventScroll: true });
  });
  source.addEventListener('candidate', (event) => {
    const { key, html } = JSON.parse(event.data);
    const row = parse(`<table>${html}</table>`, true);
    const known = findAll('tr', rows).find((each) => each.dataset.key === key);
    if (row.classList.contains('best')) {
      for (const each of findAll('tr.best', rows)) {
        if (each === known) continue;
        each.classList.remove('best');
        find('.badge.best', each)?.remove();
      }
    }
    if (known && known.innerHTML === row.innerHTML && known.className === row.className) return;
    if (known?.classList.contains('at')) row.classList.add('at');
    row.classList.add('fresh');
    if (known) known.replaceWith(row);
    else rows.append(row);
  });
  source.addEventListener('console', (event) => {
    const atEnd = console_.scrollHeight - console_.scrollTop - console_.clientHeight < 40;
    let text = '';
    for (const [id, line] of JSON.parse(event.data)) {
      if (id <= last) continue;
      last = id;
      text += `${line.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\ufffd')}\n`;
    }
    console_.append(text);
    if (atEnd) console_.scrollTop = console_.scrollHeight;
  });
  source.addEventListener('end', (event) => {
    source.close();
    say(JSON.parse(event.data).status === 'killed' ? 'no process works on it any more' : 'ended');
    refreshParts('#roofline');
  });
}

// A graph is one stop of the Tab key; arrows move inside it. Without this file every candidate is a stop.
const visibleNodes = () => findAll('#plot svg a.node').filter((each) => each.getClientRects().length);

function oneStopPerGraph() {
  for (const svg of findAll('#plot svg')) {
    const nodes = findAll('a.node', svg);
    const ways = nodes.filter((each) => each.classList.contains('way'));
    for (const each of nodes) each.setAttribute('tabindex', each === (ways.at(-1) || nodes[0]) ? '0' : '-1');
  }
}

function arrowsInGraph() {
  oneStopPerGraph();
  const centre = (node) => {
    const mark = find('.hit', node);
    return { x: Number(mark.getAttribute('cx')), y: Number(mark.getAttribute('cy')) };
  };
  document.addEventListener('keydown', (event) => {
    const node = event.target.closest?.('#plot svg a.node');
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const nodes = visibleNodes();
    const at = nodes.indexOf(node);
    const here = centre(node);
    const nearest = (sign) => nodes
      .map((each) => ({ each, by: sign * (centre(each).y - here.y), aside: Math.abs(centre(each).x - here.x) }))
      .filter((one) => one.by > 1)
      .sort((a, b) => a.by + 4 * a.aside - b.by - 4 * b.aside)[0]?.each;
    const next = { ArrowRight: nodes[at + 1], ArrowLeft: nodes[at - 1], Home: nodes[0], End: nodes.at(-1),
      ArrowDown: nearest(1), ArrowUp: nearest(-1) }[event.key];
    if (!next) return;
    event.preventDefault();
    for (const each of nodes) each.setAttribute('tabindex', each === next ? '0' : '-1');
    next.focus();
  });
}

// Parts that are drawn once, when the run has ended.
async function refreshParts(...selectors) {
  try {
    const reply = await fetch(location.href, { headers: { Accept: 'text/html' } });
    if (!reply.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
    for (const selector of selectors) {
      const fresh = find(selector, page);
      if (fresh) find(selector)?.replaceWith(fresh);
    }
  } catch { /* The server is gone; what is shown stays. */ }
}

// Buttons that copy a file. Without a secure context (http from another machine) browsers offer no clipboard,
// so that the text is selected and copied the old way.
function copyButtons() {
  document.documentElement.classList.add('script');
  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (!done) throw new Error('refused');
  };
  document.addEventListener('click', async (event) => {
    const button = event.target.closest('[data-copy]');
    if (!button) return;
    const status = find('[data-copied]', button.parentElement);
    try {
      const reply = await fetch(button.dataset.copy);
      if (!reply.ok) throw new Error(reply.statusText);
      await copy(await reply.text());
      status.textContent = 'copied';
    } catch {
      status.textContent = 'could not copy; use the download';
    }
  });
}

// Lists: the same page again, and only the results taken from it.
async function reload(address, push) {
  const results = find('#results');
  const marked = findAll('input[type=checkbox]:checked', results).map((each) => each.value);
  try {
    const reply = await fetch(address, { headers: { Accept: 'text/html' } });
    if (!reply.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
    const fresh = find('#results', page);
    if (!fresh) return;
    const at = find('tr.at', results)?.dataset.row;
    results.replaceWith(fresh);
    for (const box of findAll('input[type=checkbox]', fresh)) box.checked = marked.includes(box.value);
    if (at) findAll('tr[data-row]', fresh).find((each) => each.dataset.row === at)?.classList.add('at');
    if (push) history.replaceState(null, '', address);
  } catch { /* The server is gone; what is shown stays. */ }
}

function filterAsTyped() {
  const form = find('form[data-live-filter]');
  if (!form) return;
  let timer = 0;
  const go = () => {
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) fields.append(name, value);
    const query = fields.toString();
    reload(form.getAttribute('action') + (query ? `?${query}` : ''), true);
  };
  form.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(go, 200); });
  form.addEventListener('submit', (event) => { event.preventDefault(); clearTimeout(timer); go(); });
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[data-sort]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const fields = new URL(link.href).searchParams;
    for (const name of ['sort', 'dir']) {
      let input = find(`input[name=${name}]`, form);
      if (!input) {
        input = document.createElement('input');
        input.type = 'hidden';
        input.name = name;
        form.append(input);
      }
      input.value = fields.get(name) || '';
    }
    const title = link.textContent.trim().split(' ')[0];
    reload(link.href, true).then(() =>
      findAll('a[data-sort]').find((each) => each.textContent.trim().split(' ')[0] === title)?.focus());
  });
  setInterval(() => {
    const busy = document.activeElement?.closest('#results input, #results a');
    if (!document.hidden && !busy && find('#results[data-refresh]')) reload(location.href, false);
  }, 5000);
}

function keys() {
  const help = find('#help');
  const button = find('[data-help]');
  button.hidden = false;
  button.addEventListener('click', () => help.showModal());
  const pages = { r: '/runs', s: '/suites', l: '/leaderboard', d: '/devices', c: '/compare' };
  let afterG = false;
  const step = (by) => {
    const rows = findAll('tr[data-row]');
    if (!rows.length) return;
    const now = rows.findIndex((each) => each.classList.contains('at'));
    const next = now < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, now + by));
    rows.forEach((each, index) => each.classList.toggle('at', index === next));
    find('a', rows[next])?.focus({ preventScroll: true });
    rows[next].scrollIntoView({ block: 'nearest' });
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target.closest('input:not([type=checkbox]), select, textarea')) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    const key = event.key;
    const row = find('tr.at');
    if (afterG && pages[key]) location.href = pages[key];
    else if (key === '/') { const field = find('[data-focus-key]'); if (!field) return; field.focus(); field.select?.(); }
    else if (key === 'j') step(1);
    else if (key === 'k') step(-1);
    else if (key === 'Enter' && row && !event.target.closest('a, button, summary')) location.href = row.dataset.row;
    else if (key === 'x' && row) { const box = find('input[type=checkbox]', row); if (box) box.checked = !box.checked; }
    else if (key === 'u') { const up = find('[data-up]'); if (up) location.href = up.href; }
    else if (key === '?') help.showModal();
    else if (key !== 'g') { afterG = false; return; }
    afterG = key === 'g';
    event.preventDefault();
  });
}

const shown = find('#console');
if (shown) shown.scrollTop = shown.scrollHeight;
follow();
arrowsInGraph();
copyButtons();
filterAsTyped();
keys();
