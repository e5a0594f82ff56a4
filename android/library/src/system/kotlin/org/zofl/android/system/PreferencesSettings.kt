package org.zofl.android.system

import android.content.Context
import android.content.SharedPreferences
import java.io.IOException
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import org.zofl.android.Settings
import org.zofl.android.SettingsStore
import org.zofl.android.decodeSettings
import org.zofl.android.encode

/**
 * Stores settings in preferences. The first read loads a small file, so make it, and
 * all updates, off the main thread. [version] is the app's: after an update of the app,
 * training that was given up is tried again.
 */
class PreferencesSettings(context: Context, private val version: Long) : SettingsStore {
    private val file: SharedPreferences = context.getSharedPreferences("training", Context.MODE_PRIVATE)

    /** Whether this process is the first of a new version of the app. */
    val updated = file.getLong(VERSION, version) != version
    private val latest = MutableStateFlow(read())
    override val settings: StateFlow<Settings> = latest.asStateFlow()

    @Synchronized
    override fun update(change: (Settings) -> Settings) {
        val now = change(latest.value)
        latest.value = now // an order to stop takes effect in this process even if the disk fails
        if (!write(now, version)) throw IOException("settings cannot be saved: free some storage and try again")
    }

    private fun read(): Settings {
        val kept = decodeSettings { file.getString(it, null) }
        if (!updated && file.contains(VERSION)) return kept
        return kept.copy(halted = null).also { write(it, version) }
    }

    /** Waits for the disk, so that a user who opts out and kills the app at once has opted out. */
    private fun write(now: Settings, version: Long): Boolean = file.edit().apply {
        putLong(VERSION, version)
        now.encode().forEach { (key, value) -> putString(key, value) }
    }.commit()

    private companion object {
        const val VERSION = "version"
    }
}
