package org.zofl.digits.app

import android.app.Application
import android.util.Log
import androidx.lifecycle.AndroidViewModel
import androidx.lifecycle.viewModelScope
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
import org.zofl.android.work.Zofl
import org.zofl.digits.Score

/** The state of training in this process. */
data class TrainingNow(
    /** Progress of the current session; null if there is none. */
    val progress: Progress? = null,
    /** See [org.zofl.digits.DigitTask.score]. */
    val score: Score? = null,
    /** See [org.zofl.android.Training.outcome]. */
    val outcome: Outcome? = null,
    /** See [org.zofl.android.work.TrainingScheduler.waiting]. */
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
    private val zofl get() = getApplication<Application>().digits.zofl
    private val problem = MutableStateFlow<String?>(null)

    val ui: StateFlow<TrainingUi> =
        flow {
            val score = getApplication<Application>().digits.task.score
            val now = with(zofl) {
                combine(training.progress, score, training.outcome, scheduler.waiting(), ::TrainingNow)
            }
            emitAll(combine(zofl.settings.settings, now, problem, ::TrainingUi))
        }
            .flowOn(Dispatchers.IO) // the first read of settings reads a file
            .stateIn(viewModelScope, SharingStarted.WhileSubscribed(5_000), TrainingUi())

    /** The switch. Switching off cancels the current session at once. */
    fun optIn(on: Boolean) = act { if (on) zofl.optIn() else zofl.optOut() }

    /** See [Zofl.connect]. [credentials]: empty to keep the old ones. */
    fun connectTo(server: String, run: String, ca: String, credentials: String) = act {
        zofl.connect(server.trim(), run.trim(), ca.trim(), credentials.trim().ifEmpty { null })
    }

    fun trainNow() = act { zofl.trainNow() }

    fun deleteMyData() = act { zofl.deleteMyData() }

    /**
     * Runs the user's actions in order (see [Zofl.inTurn]), each to its end even if the user
     * leaves the screen. What goes wrong is on the screen: a phone's key store throws what it
     * likes.
     */
    private fun act(what: suspend () -> Unit) {
        viewModelScope.launch {
            withContext(NonCancellable) {
                problem.value = try {
                    withContext(Dispatchers.IO) { zofl.inTurn(what) }
                    null
                } catch (e: Exception) {
                    Log.w("Zofl", "the user's action failed", e)
                    e.message ?: e.toString()
                }
            }
        }
    }
}
