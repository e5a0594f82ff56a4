package org.zofl.digits.app

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.safeDrawingPadding
import androidx.compose.foundation.rememberScrollState
import androidx.compose.foundation.selection.toggleable
import androidx.compose.foundation.text.KeyboardOptions
import androidx.compose.foundation.verticalScroll
import androidx.compose.material3.AlertDialog
import androidx.compose.material3.Button
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedTextField
import androidx.compose.material3.Switch
import androidx.compose.material3.Text
import androidx.compose.material3.TextButton
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.saveable.rememberSaveable
import androidx.compose.runtime.setValue
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.res.stringResource
import androidx.compose.ui.semantics.LiveRegionMode
import androidx.compose.ui.semantics.Role
import androidx.compose.ui.semantics.heading
import androidx.compose.ui.semantics.liveRegion
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.input.KeyboardType
import androidx.compose.ui.text.input.PasswordVisualTransformation
import androidx.compose.ui.unit.dp
import org.zofl.digits.Score

@Composable
fun TrainingScreen(
    ui: TrainingUi,
    onOptIn: (Boolean) -> Unit,
    onConnect: (server: String, run: String, ca: String, credentials: String) -> Unit,
    onTrainNow: () -> Unit,
    onDelete: () -> Unit,
) {
    Column(
        Modifier.safeDrawingPadding().verticalScroll(rememberScrollState()).padding(16.dp),
        verticalArrangement = Arrangement.spacedBy(12.dp),
    ) {
        Text(
            stringResource(R.string.app_name), Modifier.semantics { heading() },
            style = MaterialTheme.typography.headlineMedium,
        )
        OptIn(ui.settings.optedIn, onOptIn)
        ui.settings.halted?.let { Problem(stringResource(R.string.halted, it)) }
        ui.problem?.let { Problem(it) }
        Outlook(ui)
        Status(ui)
        Button(onTrainNow, enabled = ui.settings.optedIn && ui.now.progress == null && !ui.now.waiting) {
            Text(stringResource(R.string.train_now))
        }
        Connection(ui, onConnect)
        Delete(onDelete)
    }
}

/** The whole row is the switch, high enough for a finger, so a screen reader reads its text with its state. */
@Composable
private fun OptIn(on: Boolean, onOptIn: (Boolean) -> Unit) {
    Row(
        Modifier.fillMaxWidth().heightIn(min = 48.dp).toggleable(on, role = Role.Switch, onValueChange = onOptIn),
        verticalAlignment = Alignment.CenterVertically,
        horizontalArrangement = Arrangement.spacedBy(12.dp),
    ) {
        Switch(on, onCheckedChange = null)
        Text(stringResource(R.string.opt_in))
    }
}

/** A problem, which a screen reader reads out when it appears. */
@Composable
private fun Problem(text: String) {
    Text(
        text, Modifier.semantics { liveRegion = LiveRegionMode.Polite },
        color = MaterialTheme.colorScheme.error,
    )
}

/** The reason why "train now" does not train. */
@Composable
private fun Outlook(ui: TrainingUi) {
    val reason = ui.now.outcome?.reason
    val text = when {
        ui.now.waiting && reason != null -> stringResource(R.string.waiting_again, reason)
        ui.now.waiting -> stringResource(R.string.waiting)
        // Other reasons are shown as what halted training, or in the last session's report.
        ui.now.progress == null && ui.settings.halted == null && reason != null && reason != ui.settings.report?.outcome ->
            stringResource(R.string.not_trained, reason)
        else -> return
    }
    Text(text, Modifier.semantics { liveRegion = LiveRegionMode.Polite })
}

/** State, round, loss and bytes of the current session, or the report of the last one. */
@Composable
private fun Status(ui: TrainingUi) {
    val report = ui.settings.report
    val now = ui.now.progress
    if (now != null) {
        Text(stringResource(R.string.state, stringResource(labelOf(now.state)), now.reason))
        Text(stringResource(R.string.round, now.round, now.contributions))
        now.loss?.let { Text(stringResource(R.string.loss, it)) }
        Text(stringResource(R.string.bytes, now.traffic.sent, now.traffic.received))
        now.fault?.let { Problem(it.detail) }
    } else if (report != null) {
        Text(stringResource(R.string.last_session, report.outcome, report.round, report.bytes))
    }
    val score = ui.now.score.takeIf { now != null } ?: report?.let { Score.of(it.metrics) }
    score?.let { Text(stringResource(R.string.accuracy, 100 * it.accuracy, it.loss)) }
}

@Composable
private fun Connection(ui: TrainingUi, onConnect: (String, String, String, String) -> Unit) {
    // Typed text survives rotation, except credentials, which must not be stored
    // anywhere.
    var server by rememberSaveable(ui.settings.server) { mutableStateOf(ui.settings.server) }
    var run by rememberSaveable(ui.settings.run) { mutableStateOf(ui.settings.run) }
    var ca by rememberSaveable(ui.settings.ca) { mutableStateOf(ui.settings.ca) }
    var credentials by remember { mutableStateOf("") }
    val wide = Modifier.fillMaxWidth()
    OutlinedTextField(
        server, { server = it }, wide, label = { Text(stringResource(R.string.server)) }, singleLine = true,
        keyboardOptions = KeyboardOptions(autoCorrectEnabled = false, keyboardType = KeyboardType.Uri),
    )
    OutlinedTextField(
        run, { run = it }, wide, label = { Text(stringResource(R.string.run)) }, singleLine = true,
        keyboardOptions = KeyboardOptions(autoCorrectEnabled = false),
    )
    OutlinedTextField(ca, { ca = it }, wide, label = { Text(stringResource(R.string.ca)) }, maxLines = 3)
    OutlinedTextField(
        credentials, { credentials = it }, wide, label = { Text(stringResource(R.string.credentials)) }, maxLines = 3,
        visualTransformation = PasswordVisualTransformation(),
        // Keyboards do not learn passwords.
        keyboardOptions = KeyboardOptions(autoCorrectEnabled = false, keyboardType = KeyboardType.Password),
    )
    Button({ onConnect(server, run, ca, credentials); credentials = "" }) { Text(stringResource(R.string.save)) }
}

@Composable
private fun Delete(onDelete: () -> Unit) {
    var asking by rememberSaveable { mutableStateOf(false) }
    TextButton({ asking = true }) { Text(stringResource(R.string.delete)) }
    if (!asking) return
    AlertDialog(
        onDismissRequest = { asking = false },
        confirmButton = {
            TextButton({ asking = false; onDelete() }) { Text(stringResource(R.string.delete)) }
        },
        dismissButton = { TextButton({ asking = false }) { Text(stringResource(android.R.string.cancel)) } },
        text = { Text(stringResource(R.string.delete_explained)) },
    )
}
