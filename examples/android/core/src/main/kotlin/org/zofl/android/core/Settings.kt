package org.zofl.android.core

import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.update

/** What the user has chosen and what the last session came to. No secrets: see [CredentialVault]. */
data class Settings(
    /** The user's word that this phone takes part. Nothing is sent before. */
    val optedIn: Boolean = false,
    val server: String = "",
    val run: String = "",
    /** PEM; empty for the system's authorities. */
    val ca: String = "",
    /** This phone's name in the run: random, and forgotten with the user's data. */
    val device: String = "",
    val limits: Limits = Limits(),
    /** Why training was given up until the user or an update changes something; null if it was not. */
    val halted: String? = null,
    val report: Report? = null,
    /** "Delete my data" was asked for and is not done. */
    val deleting: Boolean = false,
) {
    /** Whether training is wanted at all, so that it makes sense to schedule it. The phone may still say no. */
    val ready: Boolean get() = optedIn && halted == null && server.isNotBlank() && run.isNotBlank()
}

/** What a session came to, for the screen of a process that did not see it. */
data class Report(
    val record: Long,
    val round: Long,
    val loss: Double?,
    /** Of the model on held-out digits, 0 to 1; null if there is no model yet. */
    val accuracy: Double?,
    /** Its mean loss on them. */
    val heldOutLoss: Double?,
    val bytes: Long,
    val outcome: String,
)

/** Keeps [Settings]: preferences in the app, memory in tests. Any thread. */
interface SettingsStore {
    val settings: StateFlow<Settings>

    /** Returns when it is kept for good. Throws [java.io.IOException] if only this process will know. */
    fun update(change: (Settings) -> Settings)
}

class MemorySettings(first: Settings = Settings()) : SettingsStore {
    private val latest = MutableStateFlow(first)
    override val settings: StateFlow<Settings> = latest.asStateFlow()

    override fun update(change: (Settings) -> Settings) = latest.update(change)
}

/** The user switches it on (see [MyData.optIn]): what stopped it before is forgotten, and the phone has a name in the run. */
fun Settings.optIn(newName: () -> String = ::randomDeviceName): Settings =
    copy(optedIn = true, halted = null, device = device.ifEmpty(newName))

/** A name that says nothing about the phone or its owner. */
fun randomDeviceName(): String = "phone-" + java.util.UUID.randomUUID().toString().replace("-", "").take(16)
