package org.zofl.digits

/** The quality of a model on a set: its accuracy, 0 to 1, and its mean loss in nats. */
data class Score(val accuracy: Double, val loss: Double) {
    fun toMetrics(): Map<String, Double> = METRICS.associate { it.name to it.of(this) }

    /** A metric; [name] is its name in the plan. */
    class Metric(val name: String, val of: (Score) -> Double)

    companion object {
        /** The metrics in the order of the plan, which has metrics=["accuracy","loss"]. */
        val METRICS = listOf(Metric("accuracy", Score::accuracy), Metric("loss", Score::loss))

        /** The inverse of [toMetrics]; null if one is missing. */
        fun of(metrics: Map<String, Double>): Score? =
            metrics["accuracy"]?.let { a -> metrics["loss"]?.let { Score(a, it) } }
    }
}
