#!/usr/bin/env python3
"""Trains the 64-128-10 perceptron on three of every four digits, in float64 with a fixed seed, and writes beside itself what
../digits.mlir needs: weights, held-out images and labels, and the values that the program must give (logits, classes,
accuracy). Rerunning it gives the same files up to the last bits of the platform's exp and BLAS; the committed files are
the ones that tests compare with."""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
HELD_OUT = np.arange(1797) % 4 == 3  # 449 images


def main():
    images = np.load(HERE / "images.npy").astype(np.float64) / 16
    labels = np.load(HERE / "labels.npy")
    x, y = images[~HELD_OUT], np.eye(10)[labels[~HELD_OUT]]
    rng = np.random.default_rng(1)
    weights = [rng.normal(0, (2 / 64) ** 0.5, (64, 128)), np.zeros(128), rng.normal(0, (2 / 128) ** 0.5, (128, 10)),
               np.zeros(10)]
    first, second = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    step = 0
    for _ in range(60):
        for batch in np.array_split(rng.permutation(len(x)), len(x) // 64):
            w1, b1, w2, b2 = weights
            hidden = np.maximum(x[batch] @ w1 + b1, 0)
            logits = hidden @ w2 + b2
            e = np.exp(logits - logits.max(axis=1, keepdims=True))
            d_logits = (e / e.sum(axis=1, keepdims=True) - y[batch]) / len(batch)
            d_hidden = (d_logits @ w2.T) * (hidden > 0)
            gradients = [x[batch].T @ d_hidden, d_hidden.sum(axis=0), hidden.T @ d_logits, d_logits.sum(axis=0)]
            step += 1
            for i, g in enumerate(gradients):  # Adam (Kingma and Ba 2015) with weight decay
                g = g + 1e-4 * weights[i]
                first[i] = 0.9 * first[i] + 0.1 * g
                second[i] = 0.999 * second[i] + 0.001 * g * g
                rate = 2e-3 * (1 - 0.999 ** step) ** 0.5 / (1 - 0.9 ** step)
                weights[i] = weights[i] - rate * first[i] / (np.sqrt(second[i]) + 1e-8)

    weights = [w.astype(np.float32) for w in weights]
    held_out = images[HELD_OUT].astype(np.float32)
    truth = labels[HELD_OUT]
    w1, b1, w2, b2 = [w.astype(np.float64) for w in weights]
    hidden = np.maximum(held_out.astype(np.float64) @ w1 + b1, 0)
    logits = hidden @ w2 + b2
    classes = logits.argmax(axis=1).astype(np.int32)
    accuracy = np.float32((classes == truth).mean())
    for name, value in {"w1": weights[0], "b1": weights[1], "w2": weights[2], "b2": weights[3],
                        "held_out_images": held_out, "held_out_labels": truth,
                        "expected_hidden": hidden.astype(np.float32), "expected_logits": logits.astype(np.float32),
                        "expected_classes": classes, "expected_accuracy": accuracy}.items():
        np.save(HERE / f"{name}.npy", value)
    margin = np.sort(logits, axis=1)
    print(f"accuracy {accuracy:.4f}, smallest margin between the best two logits "
          f"{(margin[:, -1] - margin[:, -2]).min():.2e}")


if __name__ == "__main__":
    main()
