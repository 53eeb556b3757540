import Bowser from 'bowser'
import { LRUCache } from 'lru-cache'
import type { Order } from '../../orders/order.ts'
import type { SourceNavigator } from './source-order.ts'

type PublicNavigator = Exclude<Order['navigator'], null>

const devices: Record<string, string> = { mobile: 'Mobile', tablet: 'Tablet', desktop: 'Desktop' }

// For an unknown agent the parser returns the first word of the agent.
// The last names are those that its own map lacks.
const knownBrowsers: ReadonlySet<string> = new Set([
  ...Object.values(Bowser.BROWSER_MAP),
  'Miui',
  'Opera Touch',
  'PlayStation 4',
  'SlimerJS',
])

// Longer than the agent of any browser: it could only slow down the patterns of the parser.
const MAX_AGENT_LENGTH = 1024

/** The buyer's browser; `null` when neither browser nor page was recorded. */
export function projectNavigator(
  source: SourceNavigator | null | undefined,
): PublicNavigator | null {
  const userAgent = source?.user_agent || null
  const referer = source?.referer || null
  if (userAgent === null && referer === null) return null
  return {
    user_agent: userAgent,
    referer,
    ...parseAgent(userAgent),
    origin: refererDomain(referer),
  }
}

type ParsedAgent = Pick<PublicNavigator, 'device' | 'browser'>

// Parsing an agent costs a third of a projection, and many buyers have the same agent.
const agentCache = new LRUCache<string, Readonly<ParsedAgent>>({ max: 2_000 })

function parseAgent(userAgent: string | null): ParsedAgent {
  if (!userAgent || userAgent.length > MAX_AGENT_LENGTH) return { device: null, browser: null }
  const cached = agentCache.get(userAgent)
  if (cached !== undefined) return cached
  const { os, platform, browser } = Bowser.parse(userAgent)
  const name = browser.name ?? ''
  // The parser knows this system and not its devices.
  const type = os.name === 'Chrome OS' ? 'desktop' : (platform.type ?? '')
  const parsed = {
    device: devices[type] ?? null,
    browser: knownBrowsers.has(name) ? name : null,
  }
  agentCache.set(userAgent, parsed)
  return parsed
}

function refererDomain(referer: string | null): string | null {
  if (referer === null || !URL.canParse(referer)) return null
  return new URL(referer).hostname.replace(/^www\./, '') || null
}
