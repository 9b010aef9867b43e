@file:JvmName("Шлюз")
// Расписание «поездов» — 列車.
package rail.timetable

import kotlin.time.Duration
import kotlin.math.max as larger
import rail.model.*

/** A stop on a line. */
data class Stop(val name: String, val wait: Duration)

const val LATEST = 24

val midnight: Int get() = 0

private val byName = { stop: Stop -> stop.name }

typealias Stops = List<Stop>

/**
 * A train that runs each day.
 */
@Serializable
@Suppress("unused")
open class Train(
    val number: Int,
    private val stops: Stops,
) : Runner(), Comparable<Train> {
    private var late = 0

    var speed: Int = 0
        get() = field
        set(value) {
            require(value >= 0)
            field = value
        }

    init {
        check(stops.isNotEmpty())
    }

    constructor(stops: Stops) : this(0, stops) {
        late = 1
    }

    // By number.
    @Override
    override fun compareTo(other: Train): Int = number - other.number

    fun delay(minutes: Int): Train {
        fun bounded(value: Int) = larger(0, value)
        late = when {
            minutes < 0 -> 0
            else -> bounded(minutes)
        }
        return this
    }

    companion object {
        fun empty() = Train(emptyList())
    }

    object Night : Depot() {
        override fun close() {}
    }

    inner class Car(val seats: Int)
}

sealed interface Signal {
    fun show(): String
    object Red : Signal {
        override fun show() = "red"
    }
}

enum class Gauge(val width: Int) {
    NARROW(1000),
    WIDE(1520) {
        override fun label() = "1520"
    };

    open fun label(): String = name
}

fun interface Listener { fun heard(what: String) }

annotation class Fast

fun Train.label(): String = "№ $number"

suspend inline fun <reified T> List<T>.each(crossinline act: (T) -> Unit) {
    forEach { act(it) }
}
