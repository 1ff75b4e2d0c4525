"""Days on which parcels move."""

from collections.abc import Collection
from datetime import date, timedelta

SATURDAY = 5


def is_working_day(day: date, holidays: Collection[date] = ()) -> bool:
    """Tell whether parcels are moved on that day."""
    return day.weekday() < SATURDAY and day not in holidays


def add_working_days(start: date, days: int, holidays: Collection[date] = ()) -> date:
    """Return the day that many working days after ``start``."""
    day = start
    while days > 0:
        day += timedelta(days=1)
        if is_working_day(day, holidays):
            days -= 1
    return day


def delivery_window(ordered: date, zone: int, holidays: Collection[date] = ()) -> tuple[date, date]:
    """Return the first and the last day on which a parcel may arrive."""
    first = add_working_days(ordered, zone, holidays)
    return first, add_working_days(first, zone, holidays)
