"""VGG-16: thirteen 3x3 convolutions in five pooled stages and three fully connected layers, on ten 224x224 images."""
import torch
import torch.nn as nn

batch_size = 10
num_classes = 1000


class Model(nn.Module):
    def __init__(self, num_classes: int = 1000):
        super().__init__()
        layers, channels = [], 3
        for width, depth in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]:
            for _ in range(depth):
                layers += [nn.Conv2d(channels, width, kernel_size=3, padding=1), nn.ReLU(inplace=True)]
                channels = width
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=0.0),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=0.0),
            nn.Linear(4096, num_classes),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.features(x), 1))


def get_inputs():
    return [torch.rand(batch_size, 3, 224, 224)]


def get_init_inputs():
    return [num_classes]
