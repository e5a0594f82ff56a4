package org.zofl.digits.app

import android.app.Application
import androidx.lifecycle.AndroidViewModel
import androidx.lifecycle.viewModelScope
import java.io.IOException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.SharingStarted
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.combine
import kotlinx.coroutines.flow.emitAll
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.flow.stateIn
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.zofl.android.Outcome
import org.zofl.android.Progress
import org.zofl.android.Settings
import org.zofl.digits.DigitTraining
import org.zofl.digits.Score

/** The state of training in this process. */
data class TrainingNow(
    /** Progress of the current session; null if there is none. */
    val progress: Progress? = null,
    /** See [DigitTraining.score]. */
    val score: Score? = null,
    /** See [DigitTraining.outcome]. */
    val outcome: Outcome? = null,
    /** See [TrainingScheduler.waiting]. */
    val waiting: Boolean = false,
)

/** The content of the screen. After process death [settings] still has the last report. */
data class TrainingUi(
    val settings: Settings = Settings(),
    val now: TrainingNow = TrainingNow(),
    /** The problem of the last action; null for none. */
    val problem: String? = null,
)

class TrainingViewModel(app: Application) : AndroidViewModel(app) {
    private val parts get() = getApplication<Application>().parts
    private val problem = MutableStateFlow<String?>(null)

    val ui: StateFlow<TrainingUi> =
        flow {
            val p = parts
            val now = combine(p.training.progress, p.training.score, p.training.outcome, p.scheduler.waiting(), ::TrainingNow)
            emitAll(combine(p.settings.settings, now, problem, ::TrainingUi))
        }
            .flowOn(Dispatchers.IO) // the first read of settings reads a file
            .stateIn(viewModelScope, SharingStarted.WhileSubscribed(5_000), TrainingUi())

    /** The switch. Switching off cancels the current session at once. */
    fun optIn(on: Boolean) = act {
        if (on) {
            parts.optIn()
        } else {
            try {
                parts.settings.update { it.copy(optedIn = false) }
            } finally {
                parts.stop()
            }
        }
    }

    /** See [Parts.connect]. [credentials]: empty to keep the old ones. */
    fun connectTo(server: String, run: String, ca: String, credentials: String) = act {
        parts.connect(server.trim(), run.trim(), ca.trim(), credentials.trim().ifEmpty { null })
    }

    fun trainNow() = act { parts.scheduler.trainNow(parts.settings.settings.value.limits) }

    fun deleteMyData() = act { parts.deleteMyData() }

    /** Runs the user's actions in order (see [Parts.inTurn]), each to its end even if the user leaves the screen. */
    private fun act(what: suspend () -> Unit) {
        viewModelScope.launch {
            withContext(NonCancellable) {
                problem.value = try {
                    withContext(Dispatchers.IO) { parts.inTurn(what) }
                    null
                } catch (e: IOException) {
                    e.message
                }
            }
        }
    }
}
