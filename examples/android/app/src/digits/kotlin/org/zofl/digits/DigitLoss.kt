package org.zofl.digits

import org.zofl.android.Loss
import org.zofl.android.ParameterReader
import org.zofl.android.RoundView

/**
 * All that Zofl learns about the user's digits: one number, the loss of given parameters
 * on them. A call may come before a slow one has returned, so each call has its own
 * buffers, a desk, which is reused later.
 */
class DigitLoss(private val set: DigitSet) : Loss {
    private class Desk {
        val reader = ParameterReader(DigitClassifier.DIM)
        val batch = Minibatch()
        val classifier = DigitClassifier()
    }

    private val free = ArrayDeque<Desk>()

    override fun loss(round: RoundView): Double {
        val desk = synchronized(free) { free.removeLastOrNull() } ?: Desk()
        try {
            val x = desk.reader.read(round)
            desk.batch.draw(round.batchSize, round.batchSeed, set.size)
            return desk.classifier.loss(x, set, desk.batch)
        } finally {
            synchronized(free) { free.addLast(desk) }
        }
    }
}
