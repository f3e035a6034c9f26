"""What runs beside the student's code: record a value, judge it, show the verdict."""
