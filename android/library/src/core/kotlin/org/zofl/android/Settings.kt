package org.zofl.android

import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.update

/** The user's choices and the result of the last session. No secrets: see [CredentialVault]. */
data class Settings(
    /** Whether the user lets this phone take part. Before that nothing is sent. */
    val optedIn: Boolean = false,
    val server: String = "",
    val run: String = "",
    /** PEM; empty for the platform's trust. */
    val ca: String = "",
    /** This phone's name in the run: random, and deleted with the user's data. */
    val device: String = "",
    val limits: Limits = Limits(),
    /** Why training has stopped until the user or an update changes something; null if it has not. */
    val halted: String? = null,
    val report: Report? = null,
    /** The user asked for "Delete my data", and it is not done. */
    val deleting: Boolean = false,
) {
    /** Whether training should be scheduled. The policy may still deny a session. */
    val ready: Boolean get() = optedIn && halted == null && server.isNotBlank() && run.isNotBlank()
}

/** The result of a session, for a later process's screen. */
data class Report(
    val record: Long,
    val round: Long,
    val loss: Double?,
    /** What the app measured of the model: see [Task.measure]. Empty if there is no model yet. */
    val metrics: Map<String, Double>,
    val bytes: Long,
    val outcome: String,
)

/** Stores [Settings]: in preferences in the app, in memory in tests. Thread-safe. */
interface SettingsStore {
    val settings: StateFlow<Settings>

    /** Returns once the change is stored. Throws [java.io.IOException] if only this process has it. */
    fun update(change: (Settings) -> Settings)
}

class MemorySettings(first: Settings = Settings()) : SettingsStore {
    private val latest = MutableStateFlow(first)
    override val settings: StateFlow<Settings> = latest.asStateFlow()

    override fun update(change: (Settings) -> Settings) = latest.update(change)
}

/** The settings after the user opts in (see [MyData.optIn]): nothing is halted, and the phone has a name in the run. */
fun Settings.optIn(newName: () -> String = ::randomDeviceName): Settings =
    copy(optedIn = true, halted = null, device = device.ifEmpty(newName))

/** A name that says nothing about the phone or its owner. */
fun randomDeviceName(): String = "phone-" + java.util.UUID.randomUUID().toString().replace("-", "").take(16)
