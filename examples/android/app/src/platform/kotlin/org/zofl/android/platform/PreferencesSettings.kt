package org.zofl.android.platform

import android.content.Context
import android.content.SharedPreferences
import java.io.IOException
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import org.zofl.android.core.Settings
import org.zofl.android.core.SettingsStore
import org.zofl.android.core.decodeSettings
import org.zofl.android.core.encode

/**
 * Keeps settings in preferences. The first reading loads a small file: make it
 * off the main thread, and updates too. An update of the app is a reason to try again what was
 * given up: [version] is the app's.
 */
class PreferencesSettings(context: Context, private val version: Long) : SettingsStore {
    private val file: SharedPreferences = context.getSharedPreferences("training", Context.MODE_PRIVATE)

    /** Whether this process is the first of another version of the app. */
    val updated = file.getLong(VERSION, version) != version
    private val latest = MutableStateFlow(read())
    override val settings: StateFlow<Settings> = latest.asStateFlow()

    @Synchronized
    override fun update(change: (Settings) -> Settings) {
        val now = change(latest.value)
        latest.value = now // a word to stop is heard in this process, whatever the disk says
        if (!write(now, version)) throw IOException("settings cannot be kept: free some storage and try again")
    }

    private fun read(): Settings {
        val kept = decodeSettings { file.getString(it, null) }
        if (!updated && file.contains(VERSION)) return kept
        return kept.copy(halted = null).also { write(it, version) }
    }

    /** Waits for the disk: who opts out and kills the app at once has opted out. */
    private fun write(now: Settings, version: Long): Boolean = file.edit().apply {
        putLong(VERSION, version)
        now.encode().forEach { (key, value) -> putString(key, value) }
    }.commit()

    private companion object {
        const val VERSION = "version"
    }
}
