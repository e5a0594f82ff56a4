package org.zofl.android.system

import android.content.Context
import android.content.Intent
import android.os.BatteryManager
import android.os.Looper
import android.os.PowerManager
import androidx.test.core.app.ApplicationProvider
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf
import org.robolectric.annotation.Config
import org.zofl.android.ConditionsHub
import org.zofl.android.Power
import org.zofl.android.Thermal

@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35])
class PowerWatcherTest {
    private val context = ApplicationProvider.getApplicationContext<Context>()
    private val power = context.getSystemService(PowerManager::class.java)
    private val hub = ConditionsHub()
    private val watcher = PowerWatcher(context, hub)
    private val now get() = hub.conditions.value

    private fun battery(level: Int, scale: Int, plugged: Int) = Intent(Intent.ACTION_BATTERY_CHANGED)
        .putExtra(BatteryManager.EXTRA_LEVEL, level)
        .putExtra(BatteryManager.EXTRA_SCALE, scale)
        .putExtra(BatteryManager.EXTRA_PLUGGED, plugged)

    private fun send(intent: Intent) {
        context.sendBroadcast(intent)
        shadowOf(Looper.getMainLooper()).idle()
    }

    @Test
    fun `the battery is known at once, by the sticky broadcast`() {
        @Suppress("DEPRECATION") // only the system may send one; here the test is the system
        context.sendStickyBroadcast(battery(40, 200, BatteryManager.BATTERY_PLUGGED_USB))
        watcher.start()
        assertEquals(Power(charging = true, percent = 20), now.power)
        watcher.stop()
    }

    @Test
    fun `changes arrive, until it stops`() {
        watcher.start()
        send(battery(55, 100, 0))
        assertEquals(Power(charging = false, percent = 55), now.power)
        watcher.stop()
        send(battery(56, 100, 0))
        assertEquals(55, now.power.percent)
    }

    @Test
    fun `power saving and Doze are told, and keep the battery's state`() {
        watcher.start()
        send(battery(55, 100, 0))
        shadowOf(power).setIsPowerSaveMode(true)
        send(Intent(PowerManager.ACTION_POWER_SAVE_MODE_CHANGED))
        assertEquals(Power(charging = false, percent = 55, saver = true), now.power)
        assertFalse(now.dozing)
        shadowOf(power).setIsDeviceIdleMode(true)
        send(Intent(PowerManager.ACTION_DEVICE_IDLE_MODE_CHANGED))
        assertTrue(now.dozing)
        watcher.stop()
    }

    @Test
    @Config(sdk = [35])
    fun `heat is told from Android 10 on`() {
        watcher.start()
        shadowOf(power).setCurrentThermalStatus(PowerManager.THERMAL_STATUS_SEVERE)
        assertEquals(Thermal.SEVERE, now.thermal)
        watcher.stop()
        shadowOf(power).setCurrentThermalStatus(PowerManager.THERMAL_STATUS_NONE)
        assertEquals(Thermal.SEVERE, now.thermal)
    }
}
