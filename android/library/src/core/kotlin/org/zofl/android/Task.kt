package org.zofl.android

/** What an app trains: the one thing that [Training] cannot know. */
interface Task {
    /** Number of parameters, as in the operator's plan. */
    val dim: Int

    /** What a new session trains on. Called off the main thread. */
    suspend fun begin(settings: Settings): Lesson

    /** Measures the model after a session, for [Report.metrics]. Called off the main thread. */
    suspend fun measure(model: Model): Map<String, Double> = emptyMap()
}

/** One session's loss and data. */
class Lesson(
    val objective: Objective,
    /** Number of training samples, which is this device's weight in a mean; 0 counts as 1. */
    val samples: Int = 0,
    /** Measures the model when the coordinator asks; null: never. */
    val evaluator: Evaluator? = null,
    /** See [DeviceConfig.initial]. */
    val initial: FloatArray? = null,
    /** See [Secrets.runKey]. */
    val runKey: ByteArray? = null,
)
