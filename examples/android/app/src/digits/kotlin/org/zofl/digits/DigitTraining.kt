package org.zofl.digits

import java.io.IOException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.zofl.android.ConditionsHub
import org.zofl.android.CredentialVault
import org.zofl.android.DeviceConfig
import org.zofl.android.DeviceOpener
import org.zofl.android.Limits
import org.zofl.android.Model
import org.zofl.android.ModelFile
import org.zofl.android.Outcome
import org.zofl.android.Progress
import org.zofl.android.Report
import org.zofl.android.Settings
import org.zofl.android.SettingsStore
import org.zofl.android.StateFolder
import org.zofl.android.TrainingSession
import org.zofl.android.ZoflClient
import org.zofl.android.ZoflException

/** The app's training on digits: one object per process. Its arguments contain everything of the platform. */
class DigitTraining(
    private val opener: DeviceOpener,
    private val settings: SettingsStore,
    private val hub: ConditionsHub,
    private val vault: CredentialVault,
    private val state: StateFolder,
    private val models: ModelFile,
    /** Allows a server on this machine without TLS: in debug builds. */
    private val plaintext: Boolean,
) {
    private val current = MutableStateFlow<Progress?>(null)

    /** Progress of the current session; null if there is none. */
    val progress: StateFlow<Progress?> = current.asStateFlow()

    private val measured = MutableStateFlow<Score?>(null)

    /** The model's score, when the coordinator last asked for it in the latest session; null if it did not. */
    val score: StateFlow<Score?> = measured.asStateFlow()

    private val last = MutableStateFlow<Outcome?>(null)

    /** The result of this process's last session, or why there was none; null while one runs. */
    val outcome: StateFlow<Outcome?> = last.asStateFlow()

    private val session = TrainingSession(
        settings, hub.conditions, ::join, ::keep,
        watch = ::watch,
    )

    /** Digits of other people. Nobody trains on them, so accuracy on them is honest. */
    private val heldOut by lazy { DigitSet.writtenByMany(20, STRANGERS) }

    /** See [TrainingSession.run]. Waits a moment for the system's first report on the network. */
    suspend fun run(budget: Duration, attempt: Int, byHand: Boolean): Outcome {
        withTimeoutOrNull(5.seconds) { hub.conditions.first { it.network.connected } }
        last.value = null
        return session.run(budget, attempt, byHand).also { last.value = it }
    }

    /** Waits until no session runs. */
    suspend fun idle() = session.idle()

    /** The model after the last session; null before the first. Reads a file. */
    fun model(): Model? = models.load(DigitClassifier.DIM)

    private suspend fun join(now: Settings, limits: Limits): ZoflClient {
        val mine = DigitSet.written(SAMPLES, person = now.device.hashCode().toLong())
        val config = DeviceConfig(
            run = now.run, device = now.device, dim = DigitClassifier.DIM, servers = listOf(now.server),
            stateDir = state.of(now.run).path, ca = now.ca.ifBlank { null }, samples = mine.size,
            plaintext = plaintext, limits = limits,
        )
        val credentials = withContext(Dispatchers.IO) { vault.load() }
        measured.value = null // it belongs to the previous session
        return ZoflClient.open(
            opener, config, credentials, DigitLoss(mine), DigitEvaluator(heldOut) { measured.value = it },
        )
    }

    private suspend fun watch(client: ZoflClient) {
        try {
            client.progress.collect { current.value = it }
        } finally {
            current.value = null
        }
    }

    private suspend fun keep(model: Model?, last: Progress, outcome: Outcome) = withContext(Dispatchers.IO) {
        val score = model?.let { DigitClassifier().score(it.values, heldOut) }
        val report = Report(
            record = model?.record ?: 0, round = last.round, loss = last.loss,
            accuracy = score?.accuracy, heldOutLoss = score?.loss,
            bytes = last.traffic.sent + last.traffic.received, outcome = outcome.reason,
        )
        try {
            settings.update { it.copy(report = report) }
            model?.let(models::store)
        } catch (e: IOException) {
            throw ZoflException.of("store", "the model cannot be saved: $e: free some storage")
        }
    }

    companion object {
        /** Number of digits that a phone trains on. */
        const val SAMPLES = 600
        private val STRANGERS = 1_000_000L..1_000_019L
    }
}
