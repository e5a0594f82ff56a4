package org.zofl.android.app

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
import org.zofl.android.bridge.GoDevice
import org.zofl.android.core.ConditionsHub
import org.zofl.android.core.CredentialVault
import org.zofl.android.core.FileVault
import org.zofl.android.core.GcmSeal
import org.zofl.android.core.ModelFile
import org.zofl.android.core.MyData
import org.zofl.android.core.Outcome
import org.zofl.android.core.SettingsStore
import org.zofl.android.core.StateFolder
import org.zofl.android.core.Watch
import org.zofl.android.core.digits.DigitTraining
import org.zofl.android.platform.KeystoreKey
import org.zofl.android.platform.NetworkWatcher
import org.zofl.android.platform.PowerWatcher
import org.zofl.android.platform.PreferencesSettings

/** The process: what a worker and the screen share. It may be made for either alone. */
class DigitsApp : Application(), Configuration.Provider {
    val parts by lazy { Parts(this) }

    override fun onCreate() {
        super.onCreate()
        thread { runBlocking { parts.begin() } } // it reads a file
    }

    override val workManagerConfiguration: Configuration get() = Configuration.Builder().build()
}

val Context.parts: Parts get() = (applicationContext as DigitsApp).parts

/** Puts core and platform together. Nothing here decides. */
class Parts(private val context: Context) {
    private val preferences by lazy { PreferencesSettings(context, versionOf(context)) }
    val settings: SettingsStore get() = preferences
    val scheduler by lazy { TrainingScheduler(context) }

    // No backup takes this folder: a second phone with this phone's state would
    // answer as this phone.
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
     * Does what the user asks for in that order: a second screen may come before the
     * first one's deletion is done. Not from a session, for whose end [stop] waits.
     */
    suspend fun inTurn(what: suspend () -> Unit) = turn.withLock { what() }

    /** The start of the process: ends what the last one did not, and schedules what an update may have mended. */
    suspend fun begin() = inTurn {
        try {
            myData.resume()
        } catch (e: IOException) {
            Log.w("Zofl", "data is left to delete", e) // the next process tries again
        }
        resume(changed = preferences.updated)
    }

    /** The user takes part from now on. */
    suspend fun optIn() {
        myData.optIn()
        resume(changed = true)
    }

    /** Goes on with another server, run or credentials; null for those that are kept. Ends a session with the old ones. */
    suspend fun connect(server: String, run: String, ca: String, credentials: String?) {
        stop()
        myData.resume()
        credentials?.let(vault::store)
        settings.update { it.copy(server = server, run = run, ca = ca, halted = null) }
        resume(changed = true)
    }

    /** Schedules what is to be scheduled. [changed]: settings have, or the app. */
    private fun resume(changed: Boolean) {
        val now = settings.settings.value
        if (now.ready) scheduler.schedulePeriodic(now.limits, changed)
    }

    /** Schedules nothing more, until the user says otherwise: who just has is not overruled. */
    suspend fun rest() = inTurn { if (!settings.settings.value.ready) scheduler.cancelPeriodic() }

    /** Ends all training, scheduled or not, and waits for its end. */
    suspend fun stop() {
        scheduler.cancelAll()
        training.idle()
    }

    /** Trains while the watchers look at the system. */
    suspend fun train(budget: Duration, attempt: Int, byHand: Boolean): Outcome =
        watch.during { training.run(budget, attempt, byHand) }

    suspend fun deleteMyData() = myData.delete()
}

private fun debuggable(context: Context) = context.applicationInfo.flags and ApplicationInfo.FLAG_DEBUGGABLE != 0

private fun versionOf(context: Context): Long {
    val info = context.packageManager.getPackageInfo(context.packageName, 0)
    @Suppress("DEPRECATION") // longVersionCode is of Android 9
    return info.versionCode.toLong()
}
