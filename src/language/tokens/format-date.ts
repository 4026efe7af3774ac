const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** The subset of strftime used by chat templates, in UTC so that a prompt does not depend on the machine. */
export function formatDate(date: Date, format: string): string {
  const padded = (value: number, width = 2): string => String(value).padStart(width, '0')
  return format.replace(/%(-?)([a-zA-Z%])/g, (whole, plain: string, directive: string) => {
    const number = (value: number): string => (plain === '-' ? String(value) : padded(value))
    switch (directive) {
      case 'Y':
        return String(date.getUTCFullYear())
      case 'y':
        return padded(date.getUTCFullYear() % 100)
      case 'm':
        return number(date.getUTCMonth() + 1)
      case 'd':
        return number(date.getUTCDate())
      case 'H':
        return number(date.getUTCHours())
      case 'M':
        return number(date.getUTCMinutes())
      case 'S':
        return number(date.getUTCSeconds())
      case 'B':
        return months[date.getUTCMonth()]!
      case 'b':
        return months[date.getUTCMonth()]!.slice(0, 3)
      case 'A':
        return days[date.getUTCDay()]!
      case 'a':
        return days[date.getUTCDay()]!.slice(0, 3)
      case '%':
        return '%'
      default:
        return whole
    }
  })
}
