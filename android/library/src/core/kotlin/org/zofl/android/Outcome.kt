package org.zofl.android

/** The result of a training session, by what a background worker should do next. */
sealed interface Outcome {
    val reason: String

    /** The run has ended: there is nothing left to schedule. */
    data class Finished(override val reason: String = "the run has ended") : Outcome

    /** The budget is spent and the state is on disk: continue at the next period. */
    data class More(override val reason: String = "to be continued") : Outcome

    /** A temporary problem: try again after a growing pause. */
    data class Retry(override val reason: String) : Outcome

    /** A problem that only the user or an update can cure: do not try again before. */
    data class Halted(override val reason: String) : Outcome
}

/** Decides what follows a session, as a pure function, for [TrainingSession]. */
object Decision {
    /**
     * Attempts after which it waits for the next period. WorkManager also counts attempts
     * that the system interrupted, for instance because the charger was unplugged.
     */
    const val MAX_ATTEMPTS = 5

    /** When the policy denies a session. [attempt] counts from 0. */
    fun denied(denial: Permit.Denied, attempt: Int): Outcome =
        if (denial.patience) again(denial.reason, attempt) else Outcome.Halted(denial.reason)

    /** After the native library has thrown. */
    fun after(error: ZoflException, attempt: Int): Outcome = when (error) {
        is ZoflException.Settings -> Outcome.Halted("the settings do not fit: ${error.detail}")
        is ZoflException.Access -> Outcome.Halted("new credentials are needed: ${error.detail}")
        is ZoflException.Outdated -> Outcome.Halted("update this app: ${error.detail}")
        // Never give up: space may come back, and the count says little about the storage.
        is ZoflException.Storage -> again("the storage fails: ${error.detail}", attempt)
        is ZoflException.Occupied -> again("another session runs", attempt)
        is ZoflException.Connection, is ZoflException.Stopped, is ZoflException.Round,
        is ZoflException.Internal -> again(error.detail, attempt)
    }

    /**
     * After it has returned by itself. If the server cannot be reached or does not know
     * this user, the library reports a fault and waits instead of throwing. The same goes
     * for a run without a coordinator, for instance because its name is mistyped.
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
