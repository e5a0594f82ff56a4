package org.zofl.android

import java.io.IOException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.combine
import kotlinx.coroutines.flow.distinctUntilChanged
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.mapLatest
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withContext

/**
 * One session of training, run by a background worker or "train now". It asks the policy,
 * opens a client, trains within a budget, reports the phone's state to the client, and
 * stops as soon as the policy denies it. Only one session runs at a time: a second one
 * returns and is tried again later.
 *
 * [join] opens a client. [keep] stores the model and the report after training, however it
 * ended, even by cancellation. Both throw [ZoflException].
 */
class TrainingSession(
    private val settings: SettingsStore,
    private val conditions: StateFlow<Conditions>,
    private val join: suspend (Settings, Limits) -> ZoflClient,
    private val keep: suspend (Model?, Progress, Outcome) -> Unit,
    /** How long to look for the server: the radio costs power, and the budget is short. */
    private val patience: Duration = 2.minutes,
    /** Gets every client, for a screen. */
    private val watch: suspend (ZoflClient) -> Unit = {},
) {
    private val busy = Mutex()

    /**
     * Trains for at most [budget]. [attempt] counts failed attempts from 0. [byHand]: the
     * user has just asked for it. Cancellation ends it within moments, with the state on
     * disk. It throws nothing but the CancellationException.
     */
    suspend fun run(budget: Duration, attempt: Int = 0, byHand: Boolean = false): Outcome {
        if (!busy.tryLock()) return Decision.after(ZoflException.of("running", "a session is running"), attempt)
        try {
            return alone(budget, attempt, byHand)
        } finally {
            busy.unlock()
        }
    }

    /** Waits until no session runs. */
    suspend fun idle() = busy.withLock {}

    private suspend fun alone(budget: Duration, attempt: Int, byHand: Boolean): Outcome {
        val now = settings.settings.value
        val limits = if (byHand) Policy.byHand(now.limits) else now.limits
        val permit = Policy.mayTrain(now, limits, conditions.value)
        if (permit is Permit.Denied) return Decision.denied(permit, attempt)
        val outcome = try {
            trainOnce(now, limits, budget, attempt)
        } catch (e: ZoflException) {
            Decision.after(e, attempt)
        }
        if (outcome is Outcome.Halted || outcome is Outcome.Finished) {
            halt(outcome.reason)
        }
        return outcome
    }

    private fun halt(reason: String) =
        try {
            // Not if the user has opted out meanwhile: a new opt-in must not start halted.
            settings.update { if (it.optedIn) it.copy(halted = reason) else it }
        } catch (e: IOException) {
            // This process has it; another one will find out again.
        }

    private suspend fun trainOnce(now: Settings, limits: Limits, budget: Duration, attempt: Int): Outcome {
        val client = join(now, limits)
        var outcome: Outcome = Outcome.More("interrupted")
        try {
            outcome = train(client, limits, budget, attempt)
        } catch (e: ZoflException) {
            outcome = Decision.after(e, attempt)
        } finally {
            client.close()
            withContext(NonCancellable) { keep(client.params(), client.progress.value, outcome) }
        }
        return outcome
    }

    /** Trains until the budget is spent, the policy denies it or no server answers; then cancels the rest. */
    private suspend fun train(client: ZoflClient, limits: Limits, budget: Duration, attempt: Int): Outcome =
        coroutineScope {
            launch { feed(conditions, client) }
            launch { watch(client) }
            val forbidden = async { denial(limits) }
            val unreachable = async { offline(client) }
            val training = async { client.runFor(budget) }
            val outcome = select {
                training.onAwait { Decision.after(client.progress.value, client.ended, attempt) }
                forbidden.onAwait { Decision.denied(it, attempt) }
                unreachable.onAwait { Decision.after(client.progress.value, client.ended, attempt) }
            }
            coroutineContext.cancelChildren()
            outcome
        }

    /** Waits until the policy denies training. */
    private suspend fun denial(limits: Limits): Permit.Denied =
        combine(settings.settings, conditions) { s, c -> Policy.mayTrain(s, limits, c) }
            .first { it is Permit.Denied } as Permit.Denied

    /** Waits until no server has answered for [patience]. */
    @OptIn(kotlinx.coroutines.ExperimentalCoroutinesApi::class)
    private suspend fun offline(client: ZoflClient) {
        client.progress
            .map { it.state == DeviceState.OFFLINE }
            .distinctUntilChanged()
            .mapLatest { if (it) delay(patience) else delay(Duration.INFINITE) }
            .first()
    }
}
