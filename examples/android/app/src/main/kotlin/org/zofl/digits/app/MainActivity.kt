package org.zofl.digits.app

import android.Manifest
import android.os.Build
import android.os.Bundle
import androidx.activity.ComponentActivity
import androidx.activity.compose.setContent
import androidx.activity.enableEdgeToEdge
import androidx.activity.result.contract.ActivityResultContracts
import androidx.activity.viewModels
import androidx.compose.foundation.isSystemInDarkTheme
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Surface
import androidx.compose.material3.darkColorScheme
import androidx.compose.material3.lightColorScheme
import androidx.compose.ui.Modifier
import androidx.lifecycle.compose.collectAsStateWithLifecycle

class MainActivity : ComponentActivity() {
    private val model: TrainingViewModel by viewModels()

    // If the user refuses, training runs without the notification.
    private val notifications = registerForActivityResult(ActivityResultContracts.RequestPermission()) {
        model.trainNow()
    }

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        enableEdgeToEdge()
        setContent {
            MaterialTheme(if (isSystemInDarkTheme()) darkColorScheme() else lightColorScheme()) {
                Surface(Modifier.fillMaxSize()) {
                    val ui = model.ui.collectAsStateWithLifecycle()
                    TrainingScreen(
                        ui.value,
                        onOptIn = model::optIn,
                        onConnect = model::connectTo,
                        onTrainNow = ::trainNow,
                        onDelete = model::deleteMyData,
                    )
                }
            }
        }
    }

    private fun trainNow() {
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.TIRAMISU) {
            notifications.launch(Manifest.permission.POST_NOTIFICATIONS)
        } else {
            model.trainNow()
        }
    }
}
