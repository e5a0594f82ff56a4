package org.zofl.digits.app

import android.app.Application
import android.content.Context
import androidx.work.Configuration
import kotlin.concurrent.thread
import kotlinx.coroutines.runBlocking
import org.zofl.android.work.Zofl
import org.zofl.digits.DigitTask

/** The process, shared by a worker and the screen. It may be started for either of them alone. */
class DigitsApp : Application(), Configuration.Provider {
    val task = DigitTask()
    val zofl by lazy { Zofl(this, task, DigitsWorker::class.java) }

    override fun onCreate() {
        super.onCreate()
        thread { runBlocking { zofl.begin() } } // this reads a file
    }

    override val workManagerConfiguration: Configuration get() = Configuration.Builder().build()
}

val Context.digits: DigitsApp get() = applicationContext as DigitsApp
