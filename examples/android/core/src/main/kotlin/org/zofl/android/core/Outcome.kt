package org.zofl.android.core

/** What a session of training came to, as a background worker has to answer for it. */
sealed interface Outcome {
    val reason: String

    /** The run has ended: there is nothing left to schedule. */
    data class Finished(override val reason: String = "the run has ended") : Outcome

    /** The budget is spent, the state on disk: go on at the next period. */
    data class More(override val reason: String = "to be continued") : Outcome

    /** Something that passes: again after a pause that grows. */
    data class Retry(override val reason: String) : Outcome

    /** Something that only the user or an update changes: not again before. */
    data class Halted(override val reason: String) : Outcome
}

/** Decides what follows a session. Pure: the table of [TrainingSession]. */
object Decision {
    /**
     * Tries after which it is left to the next period. WorkManager counts those too
     * that the system interrupted, such as by taking the charger away.
     */
    const val MAX_ATTEMPTS = 5

    /** Before anything is opened. [attempt] counts from 0. */
    fun denied(denial: Permit.Denied, attempt: Int): Outcome =
        if (denial.patience) again(denial.reason, attempt) else Outcome.Halted(denial.reason)

    /** After the native library threw. */
    fun after(error: ZoflException, attempt: Int): Outcome = when (error) {
        is ZoflException.Settings -> Outcome.Halted("the settings do not fit: ${error.detail}")
        is ZoflException.Access -> Outcome.Halted("new credentials are needed: ${error.detail}")
        is ZoflException.Outdated -> Outcome.Halted("update this app: ${error.detail}")
        // Never for good: space comes back, and the count tells little of the storage.
        is ZoflException.Storage -> again("the storage fails: ${error.detail}", attempt)
        is ZoflException.Occupied -> again("another session runs", attempt)
        is ZoflException.Connection, is ZoflException.Stopped, is ZoflException.Round,
        is ZoflException.Internal -> again(error.detail, attempt)
    }

    /**
     * After it returned by itself. A server that cannot be reached, or does not
     * know this user, is a fault and no error: the library waits for it to change.
     * So is a run of which nobody has heard, as when its name is mistyped.
     */
    fun after(last: Progress, ended: Boolean, attempt: Int): Outcome {
        val fault = last.fault
        return when {
            ended -> Outcome.Finished()
            fault != null && last.state in unserved -> after(fault, attempt)
            else -> Outcome.More()
        }
    }

    private val unserved = setOf(DeviceState.OFFLINE, DeviceState.JOINING)

    private fun again(reason: String, attempt: Int): Outcome =
        if (attempt < MAX_ATTEMPTS) Outcome.Retry(reason) else Outcome.More("given up for now: $reason")
}
