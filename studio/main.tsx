import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { queries } from './data/queries.ts'
import './style/base.css'
import './style/parts.css'
import './style/chain.css'
import './style/screens.css'

// The server removes the token itself, unless the link was on another site.
if (location.search !== '') history.replaceState(null, '', `${location.pathname}${location.hash}`)

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
