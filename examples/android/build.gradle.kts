// Named here, so that all modules have the same Kotlin. AGP 9 compiles Kotlin by
// itself: the app needs no Kotlin plugin of its own.
plugins {
    alias(libs.plugins.android.application) apply false
    alias(libs.plugins.kotlin.jvm) apply false
    alias(libs.plugins.kotlin.compose) apply false
}
