"""Java and Kotlin, and Scala by name."""
