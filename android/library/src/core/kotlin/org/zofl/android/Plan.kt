package org.zofl.android

import kotlin.time.Duration

/** What a run asks of a device. */
data class Plan(
    /** Number of parameters. */
    val dim: Long,
    /** Local steps of a round. */
    val steps: Long,
    /** Losses that a usual round asks for. */
    val queries: Long,
    /** Samples of a minibatch; 0 for all of the device's. */
    val batchSize: Long,
    /** The time that a round has. */
    val deadline: Duration,
    /** Bytes that the native library allocates for it, at most. */
    val memory: Long,
    /** Whether the run has a secret run key: see [Secrets.runKey]. */
    val isPrivate: Boolean,
    /** Never empty: a plan that names none has one, `all`. */
    val segments: List<Segment>,
)

/**
 * Says whether the device takes part in a plan. It is asked before anything is allocated for the
 * plan, and again when a change altered it.
 */
fun interface Consent {
    /**
     * Throws to refuse; the exception's message is the reason. At first [ZoflClient.run] then ends
     * with a [ZoflException.Settings] of code `plan`. After a change the device declines rounds,
     * with a fault of code `policy`. One background thread calls it, and it must return soon: to
     * ask the user, refuse, and run again later.
     */
    fun accept(plan: Plan)
}
