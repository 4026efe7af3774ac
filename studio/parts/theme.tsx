import { type ReactNode, useEffect, useState } from 'react'

const KEY = 'coa-studio-theme'
const next = { auto: 'light', light: 'dark', dark: 'auto' } as const
type Theme = keyof typeof next
const names: Record<Theme, string> = { auto: '◐ Auto', light: '○ Light', dark: '● Dark' }

function stored(): Theme {
  const value = localStorage.getItem(KEY)
  return value === 'light' || value === 'dark' ? value : 'auto'
}

/** Light, dark, or as the system says. */
export function ThemeChoice(): ReactNode {
  const [theme, setTheme] = useState(stored)
  useEffect(() => {
    localStorage.setItem(KEY, theme)
    document.documentElement.dataset['theme'] = theme
    dispatchEvent(new Event('themechange'))
  }, [theme])
  return (
    <button type="button" className="quiet" onClick={() => setTheme(next[theme])}>
      <span className="unseen">Colors: </span>
      {names[theme]}
    </button>
  )
}
