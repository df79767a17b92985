"""Augmentation as batched tensor code: each image of a batch is turned, bent, blurred and made noisy anew."""

import torch
import torch.nn.functional as F
from torch import Tensor

from rankedu.checks import check_number, check_tensor

#: At strength 1: half-widths of the uniform draws, and the standard deviation of the noise.
ROTATION, SCALE, SHEAR, SHIFT, NOISE = 0.25, 0.2, 0.2, 0.15, 0.25
#: Pictures that a CPU treats at a time, so that all they become stays in its cache: 512 take a third of the time.
PART = 64


def augment(images: Tensor, *, generator: torch.Generator | None = None, strength: float = 1.0) -> Tensor:
    """Draw a new version of each image (B, H, W) or (B, 1, H, W), with affine jitter, blur and noise: (B, 1, H, W).

    Strength 1 means uniform rotation (± 0.25 rad), scale (± 20 %), shear (± 0.2) and shift (± 15 % of half the width);
    a blend with a copy smoothed by a 5 × 5 binomial filter; and Gaussian noise of standard deviation 0.25. Strength 0
    only converts. Random numbers are drawn on the generator's device.

    Examples
    --------
    >>> images = torch.zeros(3, 32, 32, dtype=torch.uint8)
    >>> augment(images, generator=torch.Generator().manual_seed(0)).shape
    torch.Size([3, 1, 32, 32])
    """
    clean = _as_pictures(images)
    check_number(strength, "strength", least=0, hint="0 only converts the images")
    if strength == 0 or len(clean) == 0:
        return clean
    device = clean.device if generator is None else generator.device
    jitter = torch.rand(len(clean), 6, generator=generator, device=device).to(clean)
    noise = torch.randn(clean.shape, generator=generator, device=device).to(clean)
    size = PART if clean.device.type == "cpu" else len(clean)
    parts = zip(clean.split(size), jitter.split(size), noise.split(size), strict=True)
    return torch.cat([_augment(images, draws, normal, strength) for images, draws, normal in parts])


def _augment(clean: Tensor, jitter: Tensor, noise: Tensor, strength: float) -> Tensor:
    """Augment pictures as the draws (B, 6) and the normal noise say."""
    grid = F.affine_grid(_affine(2 * jitter[:, :5] - 1, strength), list(clean.shape), align_corners=False)
    moved = F.grid_sample(clean, grid, align_corners=False)
    weight = (min(strength, 1.0) * jitter[:, 5])[:, None, None, None]
    binomial = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0]).to(moved) / 16
    across = F.conv2d(moved, binomial.view(1, 1, 5, 1), padding=(2, 0))
    blurred = moved.lerp(F.conv2d(across, binomial.view(1, 1, 1, 5), padding=(0, 2)), weight)
    return (blurred + NOISE * strength * noise).clamp(0, 1)


def _as_pictures(images: Tensor) -> Tensor:
    """Check the images and bring them to (B, 1, H, W), from 0 to 1."""
    check_tensor(images, "images")
    if images.ndim == 3:
        images = images[:, None]
    if images.ndim != 4 or images.shape[1] != 1:
        raise ValueError(f"images must have shape (B, H, W) or (B, 1, H, W), got {tuple(images.shape)}")
    if images.dtype == torch.uint8:
        return images.float() / 255
    if not images.is_floating_point():
        raise TypeError(f"images must be uint8 or floating point, got {images.dtype} (convert with .float() / 255)")
    return images


def _affine(jitter: Tensor, strength: float) -> Tensor:
    """Turn draws from -1 to 1 into matrices (B, 2, 3): rotation and scale, a shear, a shift."""
    angle, scale = ROTATION * strength * jitter[:, 0], 1 + SCALE * strength * jitter[:, 1]
    shear, shift = SHEAR * strength * jitter[:, 2], SHIFT * strength * jitter[:, 3:5]
    top = torch.stack([scale * angle.cos(), shear - scale * angle.sin(), shift[:, 0]], dim=1)
    bottom = torch.stack([scale * angle.sin(), scale * angle.cos(), shift[:, 1]], dim=1)
    return torch.stack([top, bottom], dim=1)
