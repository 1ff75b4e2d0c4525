"""Two more repositories that sentences of the corpus speak of: a clinic's calendar, and a relay of messages."""

from __future__ import annotations

CLINIC = {
    "clinic/appointments.py": '''"""Appointments and free slots."""

from clinic.patients import Patient

SLOT_MINUTES = 15


def overlaps(one, other):
    return one.start < other.end and other.start < one.end


class Appointment:
    def __init__(self, patient: Patient, start, end):
        self.patient = patient
        self.start = start
        self.end = end

    def move(self, start):
        self.start = start


class Calendar:
    def __init__(self, store):
        self.store = store

    def book(self, appointment):
        for other in self.store.load():
            if overlaps(appointment, other):
                raise ValueError("slot is taken")
        self.store.save(appointment)

    def cancel(self, appointment):
        self.store.delete(appointment)

    def free_slots(self, day):
        return [slot for slot in range(0, 60, SLOT_MINUTES)]
''',
    "clinic/reminders.py": """from clinic.patients import normalize_phone


REMINDER_LEAD = 24


class ReminderQueue:
    def push(self, reminder):
        self.waiting = [reminder]

    def flush(self):
        for each in self.waiting:
            send_reminder(each)


def send_reminder(reminder):
    return normalize_phone(reminder.phone)
""",
    "clinic/patients.py": """class Patient:
    def __init__(self, name, phone):
        self.name = name
        self.phone = phone


def normalize_phone(phone):
    return phone.replace(" ", "")
""",
    "clinic/storage/base.py": "class Store:\n    def load(self):\n        raise NotImplementedError\n",
    "clinic/storage/sqlite_store.py": (
        "from clinic.storage.base import Store\n\n\nclass SqliteStore(Store):\n    def load(self):\n        return []\n\n"
        "    def save(self, row):\n        return row\n"
    ),
    "clinic/storage/memory_store.py": (
        "from clinic.storage.base import Store\n\n\nclass MemoryStore(Store):\n    def load(self):\n        return self.rows\n"
    ),
    "clinic/cli.py": (
        "from clinic.appointments import Calendar\nfrom clinic.storage.sqlite_store import SqliteStore\n\n\n"
        "def parse_args(args):\n    return args\n\n\ndef main(args):\n    return Calendar(SqliteStore()).free_slots(parse_args(args))\n"
    ),
    "web/calendar.ts": (
        "export class CalendarView {\n  render(): string {\n    return renderDay(1);\n  }\n}\n\n"
        "export function renderDay(day: number): string {\n  return `${day}`;\n}\n"
    ),
    "tests/test_appointments.py": (
        "from clinic.appointments import Calendar, overlaps\n\n\ndef test_overlaps():\n    assert overlaps\n\n\n"
        "def test_book():\n    assert Calendar(None).book\n"
    ),
    "tests/test_reminders.py": (
        "from clinic.reminders import ReminderQueue\n\n\ndef test_flush():\n    assert ReminderQueue().flush\n"
    ),
    "docs/booking.md": "# Booking\n\nHow a slot is booked.\n",
    "examples/book_one.py": "from clinic.appointments import Calendar\n\nCalendar(None).free_slots(1)\n",
    "config/clinic.toml": "lead = 24\n",
    "README.md": "# Clinic\n",
    "pyproject.toml": "[project]\nname = 'clinic'\n",
}
CLINIC_SHOWN = (
    "clinic/appointments.py",
    "clinic/patients.py",
    "clinic/storage/sqlite_store.py",
    "tests/test_appointments.py",
    "docs/booking.md",
)
CLINIC_MENU = (
    ("clinic/reminders.py", "ReminderQueue.flush"),
    ("clinic/reminders.py", "send_reminder"),
    ("clinic/storage/memory_store.py", "MemoryStore.load"),
    ("clinic/cli.py", "main"),
    ("web/calendar.ts", "renderDay"),
    ("tests/test_reminders.py", "test_flush"),
)
CLINIC_GOAL = "booking a slot that overlaps another is not refused"

RELAY = {
    "cmd/relay/main.go": 'package main\n\nimport "relay/internal/queue"\n\nfunc main() {\n\tq := queue.NewQueue(10)\n\tq.Push("a")\n}\n',
    "internal/queue/queue.go": """package queue

// Queue keeps messages until they are sent.
type Queue struct {
	waiting []string
	most    int
}

func NewQueue(most int) *Queue {
	return &Queue{most: most}
}

func (q *Queue) Push(message string) bool {
	if len(q.waiting) >= q.most {
		return false
	}
	q.waiting = append(q.waiting, message)
	return true
}

func (q *Queue) Pop() string {
	return q.waiting[0]
}

func (q *Queue) Len() int {
	return len(q.waiting)
}
""",
    "internal/queue/queue_test.go": (
        'package queue\n\nimport "testing"\n\nfunc TestPush(t *testing.T) {\n\tif !NewQueue(1).Push("a") {\n\t\tt.Fatal("full")\n\t}\n}\n'
    ),
    "internal/http/handler.go": """package http

import "relay/internal/queue"

type Handler struct {
	queue *queue.Queue
}

func (h *Handler) ServeHTTP(body string) int {
	if !h.queue.Push(body) {
		return writeError("queue is full")
	}
	return 202
}

func writeError(message string) int {
	return 503
}
""",
    "internal/http/middleware.go": (
        "package http\n\nfunc WithLogging(next *Handler) *Handler {\n\treturn next\n}\n\n"
        "func WithTimeout(next *Handler) *Handler {\n\treturn next\n}\n"
    ),
    "internal/backoff/backoff.go": (
        "package backoff\n\ntype Exponential struct {\n\tbase int\n}\n\nfunc (e *Exponential) Next(attempt int) int {\n"
        "\treturn e.base<<attempt + jitter()\n}\n\nfunc jitter() int {\n\treturn 1\n}\n"
    ),
    "agent/src/lib.rs": (
        "pub trait Transport {\n    fn send(&self, text: &str) -> bool;\n}\n\npub struct Agent {\n    name: String,\n}\n\n"
        "impl Agent {\n    pub fn connect(&self) -> bool {\n        self.heartbeat()\n    }\n\n    pub fn heartbeat(&self) -> bool {\n        true\n    }\n}\n"
    ),
    "agent/src/tcp.rs": "pub struct Tcp;\n\nimpl Transport for Tcp {\n    fn send(&self, text: &str) -> bool {\n        text.len() > 0\n    }\n}\n",
    "docs/protocol.md": "# Protocol\n\nA message is sent once.\n",
    "deploy/relay.yaml": "replicas: 2\n",
    "Makefile": "build:\n\tgo build ./...\n",
    "README.md": "# Relay\n",
}
RELAY_SHOWN = (
    "internal/queue/queue.go",
    "internal/http/handler.go",
    "internal/queue/queue_test.go",
    "agent/src/lib.rs",
    "deploy/relay.yaml",
)
RELAY_MENU = (
    ("internal/backoff/backoff.go", "Exponential.Next"),
    ("internal/http/middleware.go", "WithTimeout"),
    ("agent/src/tcp.rs", "Tcp"),
    ("cmd/relay/main.go", "main"),
)
RELAY_GOAL = "messages are lost when the queue is full"
