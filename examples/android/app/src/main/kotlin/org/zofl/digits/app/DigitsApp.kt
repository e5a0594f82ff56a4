package org.zofl.digits.app

import android.app.Application
import android.content.Context
import android.content.pm.ApplicationInfo
import android.util.Log
import androidx.work.Configuration
import java.io.File
import java.io.IOException
import kotlin.concurrent.thread
import kotlin.time.Duration
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import org.zofl.android.GoDevice
import org.zofl.android.ConditionsHub
import org.zofl.android.CredentialVault
import org.zofl.android.FileVault
import org.zofl.android.GcmSeal
import org.zofl.android.ModelFile
import org.zofl.android.MyData
import org.zofl.android.Outcome
import org.zofl.android.SettingsStore
import org.zofl.android.StateFolder
import org.zofl.android.Watch
import org.zofl.digits.DigitTraining
import org.zofl.android.system.KeystoreKey
import org.zofl.android.system.NetworkWatcher
import org.zofl.android.system.PowerWatcher
import org.zofl.android.system.PreferencesSettings

/** The process, shared by a worker and the screen. It may be started for either of them alone. */
class DigitsApp : Application(), Configuration.Provider {
    val parts by lazy { Parts(this) }

    override fun onCreate() {
        super.onCreate()
        thread { runBlocking { parts.begin() } } // this reads a file
    }

    override val workManagerConfiguration: Configuration get() = Configuration.Builder().build()
}

val Context.parts: Parts get() = (applicationContext as DigitsApp).parts

/** Connects core and platform. It makes no decisions. */
class Parts(private val context: Context) {
    private val preferences by lazy { PreferencesSettings(context, versionOf(context)) }
    val settings: SettingsStore get() = preferences
    val scheduler by lazy { TrainingScheduler(context) }

    // Backups leave this folder out: a second phone with this phone's state would
    // answer in its name.
    private val folder = File(context.noBackupFilesDir, "zofl")
    private val state = StateFolder(File(folder, "state"))
    private val models = ModelFile(File(folder, "model"))
    private val hub = ConditionsHub()
    val vault: CredentialVault = FileVault(File(folder, "credentials"), GcmSeal(KeystoreKey()))
    val training by lazy { DigitTraining(GoDevice, settings, hub, vault, state, models, plaintext = debuggable(context)) }
    private val myData by lazy {
        MyData(settings, vault, state, models, ::stop)
    }
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
     * Runs the user's actions one after another: a second screen may open before the
     * first one's deletion is done. Never call it from a session: [stop] waits for its end.
     */
    suspend fun inTurn(what: suspend () -> Unit) = turn.withLock { what() }

    /** Starts the process: finishes a deletion that is not done, and after an update schedules training again. */
    suspend fun begin() = inTurn {
        try {
            myData.resume()
        } catch (e: IOException) {
            Log.w("Zofl", "data remains to be deleted", e) // the next process tries again
        }
        resume(changed = preferences.updated)
    }

    /** Opts the user in. */
    suspend fun optIn() {
        myData.optIn()
        resume(changed = true)
    }

    /** Switches to another server, run or credentials (null keeps the old ones). Ends the current session. */
    suspend fun connect(server: String, run: String, ca: String, credentials: String?) {
        stop()
        myData.resume()
        credentials?.let(vault::store)
        settings.update { it.copy(server = server, run = run, ca = ca, halted = null) }
        resume(changed = true)
    }

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

    /** Trains while the watchers observe the system. */
    suspend fun train(budget: Duration, attempt: Int, byHand: Boolean): Outcome =
        watch.during { training.run(budget, attempt, byHand) }

    suspend fun deleteMyData() = myData.delete()
}

private fun debuggable(context: Context) = context.applicationInfo.flags and ApplicationInfo.FLAG_DEBUGGABLE != 0

private fun versionOf(context: Context): Long {
    val info = context.packageManager.getPackageInfo(context.packageName, 0)
    @Suppress("DEPRECATION") // longVersionCode exists from Android 9 on
    return info.versionCode.toLong()
}
