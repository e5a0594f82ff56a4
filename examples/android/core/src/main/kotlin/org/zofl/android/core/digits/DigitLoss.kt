package org.zofl.android.core.digits

import org.zofl.android.core.Loss
import org.zofl.android.core.ParameterReader
import org.zofl.android.core.RoundView

/**
 * All that Zofl learns of the user's digits: one number, how badly given
 * parameters do on them. A question may come before a late one was answered: each
 * takes a desk, which is kept for the next.
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
