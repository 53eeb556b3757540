import type { SourceOrder } from '../../indexing/projection/source-order.ts'
import type { Random } from '../random.ts'

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

/** `User-Agent` values: desktop, mobile, tablet, in-app, and one unknown. */
export const userAgents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Safari/605.1.15',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0',
  'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0',
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21G93 Instagram 355.0.0.38.103 (iPhone14,5; iOS 17_6_1; pt_BR; pt; scale=3.00; 1170x2532)',
  'Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0',
  'Mozilla/5.0 (iPad; CPU OS 16_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 13; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Safari/537.36',
  'okhttp/4.12.0',
] as const

/** Draws the attribution of an order: campaign, tracking parameters and browser, or none. */
export function drawAttribution(random: Random): Attribution {
  return {
    utm: drawCampaign(random),
    tracking: drawTracking(random),
    navigator: drawNavigator(random),
  }
}

// The platform sends an empty object or null for the same meaning.
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
