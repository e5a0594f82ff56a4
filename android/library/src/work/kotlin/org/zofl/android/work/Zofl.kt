package org.zofl.android.work

import android.content.Context
import android.content.pm.ApplicationInfo
import android.util.Log
import java.io.File
import java.io.IOException
import kotlin.time.Duration
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import org.zofl.android.ConditionsHub
import org.zofl.android.Consent
import org.zofl.android.CredentialVault
import org.zofl.android.DeviceOpener
import org.zofl.android.FileVault
import org.zofl.android.GcmSeal
import org.zofl.android.KeySource
import org.zofl.android.ModelFile
import org.zofl.android.MyData
import org.zofl.android.NativeDevice
import org.zofl.android.Outcome
import org.zofl.android.ServerTrust
import org.zofl.android.SettingsStore
import org.zofl.android.StateFolder
import org.zofl.android.Task
import org.zofl.android.Training
import org.zofl.android.Watch
import org.zofl.android.system.KeystoreKey
import org.zofl.android.system.NetworkWatcher
import org.zofl.android.system.PlatformTrust
import org.zofl.android.system.PowerWatcher
import org.zofl.android.system.PreferencesSettings

/**
 * Training in this process: settings, credentials, schedule and sessions of one [Task]. Make
 * one, in the Application, and call [begin] off the main thread when the process starts.
 *
 * Everything is below `noBackupFilesDir/zofl`, which backups leave out: a second phone with
 * this phone's state would answer in its name.
 */
class Zofl(
    private val context: Context,
    task: Task,
    worker: Class<out TrainingWorker>,
    opener: DeviceOpener = NativeDevice,
    keys: KeySource = KeystoreKey(),
    /** Decides about servers unless [connect] got an authority. */
    trust: ServerTrust = PlatformTrust(),
    /** Keys of which a server must have one: see [org.zofl.android.DeviceConfig.pins]. */
    pins: List<String> = emptyList(),
    /** What the run's operator sees of this app: see [org.zofl.android.DeviceConfig.about]. */
    about: String = "",
    /** Judges the run's plan; null: all that fit the memory are accepted. */
    consent: Consent? = null,
) {
    private val preferences by lazy { PreferencesSettings(context, versionOf(context)) }

    /** The user's choices and the last report. The first use reads a file. */
    val settings: SettingsStore get() = preferences
    val scheduler by lazy { TrainingScheduler(context, worker) }

    private val folder = File(context.noBackupFilesDir, "zofl")
    private val state = StateFolder(File(folder, "state"))
    private val models = ModelFile(File(folder, "model"))
    private val hub = ConditionsHub()

    /** This phone's credentials, sealed by a key of the Keystore. */
    val vault: CredentialVault = FileVault(File(folder, "credentials"), GcmSeal(keys))

    /** Progress, outcome and model, for a screen. */
    val training by lazy {
        Training(
            task, opener, settings, hub, vault, state, models, debuggable(context), trust, pins, about, consent,
        )
    }
    private val myData by lazy { MyData(settings, vault, state, models, ::stop) }
    private val watch = Watch {
        val network = NetworkWatcher(context, hub).apply { start() }
        val power = PowerWatcher(context, hub).apply { start() }
        AutoCloseable {
            power.stop()
            network.stop()
        }
    }

    private val turn = Mutex()

    /**
     * Runs the user's actions one after another: a second screen may open before the first
     * one's deletion is done. Never call it from a session: [stop] waits for its end.
     */
    suspend fun inTurn(what: suspend () -> Unit) = turn.withLock { what() }

    /** Finishes a deletion that is not done, and after an update schedules training again. */
    suspend fun begin() = inTurn {
        try {
            myData.resume()
        } catch (e: IOException) {
            Log.w("Zofl", "data remains to be deleted", e) // the next process tries again
        }
        resume(changed = preferences.updated)
    }

    /** Opts the user in. Throws [IOException] if that cannot be stored. */
    suspend fun optIn() {
        myData.optIn()
        resume(changed = true)
    }

    /** Opts the user out, and ends the current session. Throws [IOException] if that cannot be stored. */
    suspend fun optOut() =
        try {
            settings.update { it.copy(optedIn = false) }
        } finally {
            stop()
        }

    /**
     * Switches to another server, run, authority ([ca], PEM, empty for Android's own trust) or
     * credentials (null keeps the old ones). Ends the current session. Throws [IOException].
     */
    suspend fun connect(server: String, run: String, ca: String, credentials: String?) {
        stop()
        myData.resume()
        credentials?.let(vault::store)
        settings.update { it.copy(server = server, run = run, ca = ca, halted = null) }
        resume(changed = true)
    }

    /** Asks WorkManager for a session in the foreground. */
    fun trainNow() = scheduler.trainNow(settings.settings.value.limits)

    /** Schedules training if it is wanted. [changed]: the settings or the app have changed. */
    private fun resume(changed: Boolean) {
        val now = settings.settings.value
        if (now.ready) scheduler.schedulePeriodic(now.limits, changed)
    }

    /** Stops scheduling, unless the user has just switched training on again. */
    suspend fun rest() = inTurn { if (!settings.settings.value.ready) scheduler.cancelPeriodic() }

    /** Ends all training, scheduled or not, and waits until it has ended. */
    suspend fun stop() {
        scheduler.cancelAll()
        training.idle()
    }

    /** One session, while the watchers observe the system: see [org.zofl.android.TrainingSession.run]. */
    suspend fun train(budget: Duration, attempt: Int, byHand: Boolean): Outcome =
        watch.during { training.run(budget, attempt, byHand) }

    /** Ends training, then deletes state, model, credentials and settings: see [MyData.delete]. */
    suspend fun deleteMyData() = myData.delete()
}

private fun debuggable(context: Context) = context.applicationInfo.flags and ApplicationInfo.FLAG_DEBUGGABLE != 0

private fun versionOf(context: Context): Long {
    val info = context.packageManager.getPackageInfo(context.packageName, 0)
    @Suppress("DEPRECATION") // longVersionCode exists from Android 9 on
    return info.versionCode.toLong()
}
