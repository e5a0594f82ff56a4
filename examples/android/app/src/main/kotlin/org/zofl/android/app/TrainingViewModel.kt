package org.zofl.android.app

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
import org.zofl.android.core.Outcome
import org.zofl.android.core.Progress
import org.zofl.android.core.Settings
import org.zofl.android.core.digits.DigitTraining
import org.zofl.android.core.digits.Score

/** What this process knows of training. */
data class TrainingNow(
    /** Of the session in course; null if there is none. */
    val progress: Progress? = null,
    /** See [DigitTraining.score]. */
    val score: Score? = null,
    /** See [DigitTraining.outcome]. */
    val outcome: Outcome? = null,
    /** See [TrainingScheduler.waiting]. */
    val waiting: Boolean = false,
)

/** What the screen shows. After process death [settings] still has the last report. */
data class TrainingUi(
    val settings: Settings = Settings(),
    val now: TrainingNow = TrainingNow(),
    /** What went wrong with the last action; null for nothing. */
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
            .flowOn(Dispatchers.IO) // the first reading of settings is of a file
            .stateIn(viewModelScope, SharingStarted.WhileSubscribed(5_000), TrainingUi())

    /** The switch: off cancels the session in course at once. */
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

    /** See [Parts.connect]. [credentials]: empty to leave those that are kept. */
    fun connectTo(server: String, run: String, ca: String, credentials: String) = act {
        parts.connect(server.trim(), run.trim(), ca.trim(), credentials.trim().ifEmpty { null })
    }

    fun trainNow() = act { parts.scheduler.trainNow(parts.settings.settings.value.limits) }

    fun deleteMyData() = act { parts.deleteMyData() }

    /** What the user asks for is done in that order (see [Parts.inTurn]), and to its end even if the screen is left. */
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
