package org.zofl.digits

import org.zofl.android.EvaluationView
import org.zofl.android.Evaluator
import org.zofl.android.ParameterReader

/**
 * Measures the model on [heldOut], which nobody trains on: for the coordinator if the plan
 * has [Score.METRICS], and for this phone's screen, through [told].
 */
class DigitEvaluator(private val heldOut: DigitSet, private val told: (Score) -> Unit = {}) : Evaluator {
    private val reader = ParameterReader(DigitClassifier.DIM)
    private val classifier = DigitClassifier()

    @Synchronized
    override fun evaluate(evaluation: EvaluationView) {
        val now = classifier.score(reader.read(evaluation), heldOut)
        for (metric in Score.METRICS) evaluation.metric(metric.of(now))
        evaluation.samples(heldOut.size)
        told(now)
    }
}
