package org.zofl.digits

import kotlin.math.exp
import kotlin.math.ln

/**
 * A linear classifier of digits, without a gradient: Zofl needs none. The parameters are a
 * row of pixel weights for each class, then the biases of the classes:
 *
 *     score[c] = x[DIM - CLASSES + c] + sum over p of x[c*PIXELS + p] * pixel[p]
 *
 * Not thread-safe.
 */
class DigitClassifier {
    private val scores = FloatArray(CLASSES)

    /** The mean cross-entropy of [x] over a minibatch of [set], in nats. */
    fun loss(x: FloatArray, set: DigitSet, batch: Minibatch): Double {
        var sum = 0.0
        for (i in 0 until batch.size) {
            score(x, set.pixels, batch[i] * Handwriting.PIXELS)
            sum += logSum() - scores[set.labels[batch[i]].toInt()]
        }
        return sum / batch.size
    }

    /** The digit that model [x] reads in the pixels at [offset]. */
    fun predict(x: FloatArray, pixels: FloatArray, offset: Int = 0): Int {
        score(x, pixels, offset)
        var best = 0
        for (c in 1 until CLASSES) if (scores[c] > scores[best]) best = c
        return best
    }

    /** The share of [set] that model [x] classifies correctly, 0 to 1. */
    fun accuracy(x: FloatArray, set: DigitSet): Double {
        var right = 0
        for (i in 0 until set.size) {
            if (predict(x, set.pixels, i * Handwriting.PIXELS) == set.labels[i].toInt()) right++
        }
        return right.toDouble() / set.size
    }

    /** Accuracy and loss of [x] on all of [set]. */
    fun score(x: FloatArray, set: DigitSet) = Score(accuracy(x, set), loss(x, set, Minibatch().draw(0, 0, set.size)))

    private fun score(x: FloatArray, pixels: FloatArray, offset: Int) {
        require(x.size == DIM) { "${x.size} parameters: want $DIM" }
        for (c in 0 until CLASSES) {
            val row = c * Handwriting.PIXELS
            var sum = x[DIM - CLASSES + c]
            for (p in 0 until Handwriting.PIXELS) sum += x[row + p] * pixels[offset + p]
            scores[c] = sum
        }
    }

    /** log of the sum of exp(scores), relative to the largest so that nothing overflows. */
    private fun logSum(): Double {
        var top = scores[0]
        for (s in scores) if (s > top) top = s
        var sum = 0.0
        for (s in scores) sum += exp((s - top).toDouble())
        return top + ln(sum)
    }

    companion object {
        const val CLASSES = 10

        /** Number of parameters. */
        const val DIM = CLASSES * (Handwriting.PIXELS + 1)
    }
}
