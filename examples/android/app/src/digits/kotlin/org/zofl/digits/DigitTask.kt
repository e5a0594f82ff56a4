package org.zofl.digits

import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import org.zofl.android.Lesson
import org.zofl.android.Model
import org.zofl.android.Settings
import org.zofl.android.Task

/** What the library trains here: the classifier, on the digits of this phone's user. */
class DigitTask : Task {
    override val dim = DigitClassifier.DIM

    private val measured = MutableStateFlow<Score?>(null)

    /** The model's score, when the coordinator last asked for it in the latest session; null if it did not. */
    val score: StateFlow<Score?> = measured.asStateFlow()

    /** Digits of other people. Nobody trains on them, so accuracy on them is honest. */
    private val heldOut by lazy { DigitSet.writtenByMany(20, STRANGERS) }

    override suspend fun begin(settings: Settings): Lesson {
        measured.value = null // it belongs to the previous session
        val mine = DigitSet.written(SAMPLES, person = settings.device.hashCode().toLong())
        return Lesson(DigitLoss(mine), mine.size, DigitEvaluator(heldOut) { measured.value = it })
    }

    override suspend fun measure(model: Model): Map<String, Double> =
        DigitClassifier().score(model.values, heldOut).toMetrics()

    companion object {
        /** Number of digits that a phone trains on. */
        const val SAMPLES = 600
        private val STRANGERS = 1_000_000L..1_000_019L
    }
}
