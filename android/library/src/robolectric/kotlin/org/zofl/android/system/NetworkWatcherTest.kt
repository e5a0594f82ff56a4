package org.zofl.android.system

import android.content.Context
import android.net.ConnectivityManager
import android.net.NetworkCapabilities
import android.net.NetworkCapabilities.NET_CAPABILITY_NOT_METERED
import android.net.NetworkCapabilities.NET_CAPABILITY_VALIDATED
import androidx.test.core.app.ApplicationProvider
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf
import org.robolectric.annotation.Config
import org.robolectric.shadows.ShadowNetwork
import org.robolectric.shadows.ShadowNetworkCapabilities
import org.zofl.android.ConditionsHub
import org.zofl.android.Network

@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35])
class NetworkWatcherTest {
    private val context = ApplicationProvider.getApplicationContext<Context>()
    private val system = context.getSystemService(ConnectivityManager::class.java)
    private val hub = ConditionsHub()
    private val watcher = NetworkWatcher(context, hub)
    private val wifi = ShadowNetwork.newInstance(7)
    private val now get() = hub.conditions.value.network

    private fun capable(vararg of: Int): NetworkCapabilities =
        ShadowNetworkCapabilities.newInstance().also { made -> of.forEach { shadowOf(made).addCapability(it) } }

    @Test
    fun `the watcher is registered while it watches`() {
        watcher.start()
        assertTrue(watcher in shadowOf(system).networkCallbacks)
        watcher.stop()
        assertTrue(shadowOf(system).networkCallbacks.isEmpty())
    }

    @Test
    fun `a network is known with what it costs`() {
        watcher.start()
        watcher.onCapabilitiesChanged(wifi, capable(NET_CAPABILITY_VALIDATED, NET_CAPABILITY_NOT_METERED))
        assertEquals(Network(connected = true, metered = false, id = wifi.networkHandle), now)
        watcher.onCapabilitiesChanged(wifi, capable(NET_CAPABILITY_VALIDATED))
        assertEquals(Network(connected = true, metered = true, id = wifi.networkHandle), now)
        watcher.onLost(wifi)
        assertEquals(Network(), now)
    }

    @Test
    fun `a network behind a sign-in page is none yet`() {
        watcher.start()
        watcher.onCapabilitiesChanged(wifi, capable(NET_CAPABILITY_NOT_METERED))
        assertEquals(false, now.connected)
    }

    @Test
    fun `a network that the system withholds is none`() {
        watcher.start()
        watcher.onCapabilitiesChanged(wifi, capable(NET_CAPABILITY_VALIDATED))
        watcher.onBlockedStatusChanged(wifi, true)
        assertEquals(Network(), now)
        watcher.onBlockedStatusChanged(wifi, false)
        assertTrue(now.connected)
    }

    @Test
    fun `a callback that comes after the end changes nothing`() {
        watcher.start()
        watcher.stop()
        watcher.onCapabilitiesChanged(wifi, capable(NET_CAPABILITY_VALIDATED))
        assertEquals(Network(), now)
    }
}
