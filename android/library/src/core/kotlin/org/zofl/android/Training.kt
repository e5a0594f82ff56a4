package org.zofl.android

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

/** An app's training: one object per process. Its arguments contain everything of the platform. */
class Training(
    private val task: Task,
    private val opener: DeviceOpener,
    private val settings: SettingsStore,
    private val hub: ConditionsHub,
    private val vault: CredentialVault,
    private val state: StateFolder,
    private val models: ModelFile,
    /** Allows a server on this machine without TLS: in debug builds. */
    private val plaintext: Boolean = false,
    /** Decides about servers unless the settings name an authority: see [DeviceConfig.trust]. */
    private val trust: ServerTrust? = null,
    /** See [DeviceConfig.pins]. */
    private val pins: List<String> = emptyList(),
    /** See [DeviceConfig.about]. */
    private val about: String = "",
    /** Judges the run's plan; null: all that fit the memory are accepted. */
    private val consent: Consent? = null,
) {
    private val current = MutableStateFlow<Progress?>(null)

    /** Progress of the current session; null if there is none. */
    val progress: StateFlow<Progress?> = current.asStateFlow()

    private val last = MutableStateFlow<Outcome?>(null)

    /** The result of this process's last session, or why there was none; null while one runs. */
    val outcome: StateFlow<Outcome?> = last.asStateFlow()

    private val session = TrainingSession(settings, hub.conditions, ::join, ::keep, watch = ::watch)

    /** See [TrainingSession.run]. Waits a moment for the system's first report on the network. */
    suspend fun run(budget: Duration, attempt: Int, byHand: Boolean): Outcome {
        withTimeoutOrNull(5.seconds) { hub.conditions.first { it.network.connected } }
        last.value = null
        return session.run(budget, attempt, byHand).also { last.value = it }
    }

    /** Waits until no session runs. */
    suspend fun idle() = session.idle()

    /** The model after the last session; null before the first. Reads a file. */
    fun model(): Model? = models.load(task.dim)

    private suspend fun join(now: Settings, limits: Limits): ZoflClient {
        val (lesson, credentials) = withContext(Dispatchers.IO) { task.begin(now) to vault.load() }
        val config = DeviceConfig(
            run = now.run, device = now.device, dim = task.dim, servers = listOf(now.server),
            stateDir = state.of(now.run).path, ca = now.ca.ifBlank { null }, trust = trust, pins = pins,
            samples = lesson.samples, plaintext = plaintext, limits = limits, about = about,
            initial = lesson.initial,
        )
        val secrets = Secrets(credentials, runKey = lesson.runKey)
        return ZoflClient.open(opener, config, secrets, lesson.objective, lesson.evaluator, consent)
    }

    private suspend fun watch(client: ZoflClient) {
        try {
            client.progress.collect { current.value = it }
        } finally {
            current.value = null
        }
    }

    private suspend fun keep(model: Model?, last: Progress, outcome: Outcome) = withContext(Dispatchers.IO) {
        val report = Report(
            record = model?.record ?: 0, round = last.round, loss = last.loss,
            metrics = model?.let { task.measure(it) }.orEmpty(),
            bytes = last.traffic.sent + last.traffic.received, outcome = outcome.reason,
        )
        try {
            settings.update { it.copy(report = report) }
            model?.let(models::store)
        } catch (e: IOException) {
            throw ZoflException.of("store", "the model cannot be saved: $e: free some storage")
        }
    }
}
