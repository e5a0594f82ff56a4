package org.zofl.digits.app

import androidx.test.core.app.ApplicationProvider
import androidx.work.Configuration
import androidx.work.testing.SynchronousExecutor
import androidx.work.testing.WorkManagerTestInitHelper
import kotlin.test.assertEquals
import kotlin.test.assertNotNull
import kotlin.test.assertTrue
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.UnconfinedTestDispatcher
import kotlinx.coroutines.test.resetMain
import kotlinx.coroutines.test.setMain
import org.junit.After
import org.junit.Before
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config

/** The screen's model with the app's own Application, preferences and WorkManager. */
@OptIn(ExperimentalCoroutinesApi::class)
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35], application = DigitsApp::class)
class TrainingViewModelTest {
    private val app = ApplicationProvider.getApplicationContext<DigitsApp>()

    @Before
    fun begin() {
        Dispatchers.setMain(UnconfinedTestDispatcher())
        val now = Configuration.Builder().setExecutor(SynchronousExecutor()).build()
        WorkManagerTestInitHelper.initializeTestWorkManager(app, now)
    }

    @After
    fun end() = Dispatchers.resetMain()

    private fun until(model: TrainingViewModel, what: (TrainingUi) -> Boolean): TrainingUi =
        runBlocking { model.ui.first(what) }

    @Test
    fun `the switch opts in and out`() {
        val model = TrainingViewModel(app)
        model.optIn(true)
        val on = until(model) { it.settings.optedIn }
        assertTrue(on.settings.device.startsWith("phone-"))
        model.optIn(false)
        assertEquals(on.settings.device, until(model) { !it.settings.optedIn }.settings.device)
    }

    @Test
    fun `a connection is stored without blanks, and training is scheduled`() {
        val model = TrainingViewModel(app)
        model.optIn(true)
        model.connectTo(" tls://h:4222 ", " digits ", "", "")
        val ui = until(model) { it.settings.run.isNotEmpty() }
        assertEquals("tls://h:4222" to "digits", ui.settings.server to ui.settings.run)
        model.trainNow()
        until(model) { it.now.waiting }
    }

    /** Robolectric has no Keystore: a phone whose Keystore fails looks the same. */
    @Test
    fun `a key store that fails is told, and stores no credentials`() {
        val model = TrainingViewModel(app)
        model.connectTo("tls://h:4222", "digits", "", "SUSECRET")
        val ui = until(model) { it.problem != null }
        assertNotNull(ui.problem)
        assertTrue("SUSECRET" !in ui.problem!!, ui.problem)
        assertEquals("", ui.settings.run)
        model.optIn(true)
        until(model) { it.settings.optedIn && it.problem == null }
    }
}
