// AGP 9 compiles Kotlin itself, so the app needs no Kotlin plugin.
plugins {
    alias(libs.plugins.android.application) apply false
    alias(libs.plugins.kotlin.compose) apply false
}
