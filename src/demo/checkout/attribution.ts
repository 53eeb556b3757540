import type { SourceOrder } from '../../indexing/projection/source-order.ts'
import type { Random } from '../random.ts'
import { userAgents } from './user-agents.ts'

type Attribution = Required<Pick<SourceOrder, 'utm' | 'tracking' | 'navigator'>>

const referers = [
  'https://www.instagram.com/',
  'https://l.instagram.com/?u=https%3A%2F%2Fcurso.exemplo.com.br',
  'https://www.google.com/',
  'https://www.youtube.com/watch?v=demo',
  'https://curso.exemplo.com.br/oferta?etapa=2',
  'https://blog.exemplo.com.br/dez-dicas',
]

const campaigns: readonly NonNullable<SourceOrder['utm']>[] = [
  {
    utm_source: 'google',
    utm_medium: 'cpc',
    utm_campaign: 'marco',
    utm_term: 'curso de violão',
    utm_content: 'anuncio_1',
  },
  { utm_source: 'instagram', utm_medium: 'stories', utm_campaign: 'lancamento' },
  { utm_source: 'newsletter', utm_medium: 'email', utm_campaign: null, utm_term: null },
  { utm_source: 'youtube' },
  {
    utm_source: 'facebook',
    utm_medium: 'cpc',
    utm_campaign: 'remarketing',
    utm_content: 'video_2',
  },
]

/** How the buyer came to the checkout: campaign, tracking parameters and browser, or none. */
export function drawAttribution(random: Random): Attribution {
  return {
    utm: drawCampaign(random),
    tracking: drawTracking(random),
    navigator: drawNavigator(random),
  }
}

// An empty object says the same as null, and the platform sends both.
function drawCampaign(random: Random): Attribution['utm'] {
  if (random.chance(0.02)) return {}
  return random.chance(0.55) ? { ...random.pick(campaigns) } : null
}

function drawTracking(random: Random): Attribution['tracking'] {
  if (random.chance(0.5)) return null
  return {
    ...(random.chance(0.6) && { src: random.pick(['bio', 'stories', 'grupo_vip', 'e-mail']) }),
    ...(random.chance(0.4) && { sck: `afiliado_${random.digits(4)}` }),
    ...(random.chance(0.3) && { fbclid: `IwAR0${random.digits(12)}` }),
    ...(random.chance(0.2) && { gclid: `Cj0KC${random.digits(12)}` }),
  }
}

function drawNavigator(random: Random): Attribution['navigator'] {
  if (random.chance(0.1)) return null
  return {
    ...(random.chance(0.95) && { user_agent: random.pick(userAgents) }),
    ...(random.chance(0.6) && { referer: random.pick(referers) }),
  }
}
