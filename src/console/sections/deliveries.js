import { serverNow } from '../api.js'
import {
  badge,
  button,
  buttonOf,
  cardPages,
  empty,
  facts,
  fillPlace,
  replaceCard,
  sectionHead,
  toast,
  toastFailure,
} from '../ui/components.js'
import { field, select } from '../ui/dialogs.js'
import { h } from '../ui/dom.js'
import { formatAgo, formatMoment, formatSecond } from '../ui/format.js'
import { DELIVERY_STATES, eventName, webhookNames } from '../ui/names.js'

const LEAD =
  'Cada aviso enviado ao seu sistema, e se ele o recebeu. Um aviso que falhou é repetido sozinho por até 3 dias.'

/** One that is held is sent when its webhook is enabled. */
const RESENDABLE = ['delivered', 'failed', 'expired', 'canceled']

const REDIRECT =
  'o seu sistema redirecionou o aviso: aponte o endereço para o destino do redirecionamento'
const RESENT = 'O aviso será enviado de novo agora.'
const RARER = 'o endereço está falhando, e as tentativas ficam mais raras até ele responder'
/** The event before may fail for five minutes before this one is sent. */
const IN_ITS_TURN = 'em instantes, ou depois do aviso anterior deste pedido'

const CHOSEN = 'webhook'

/** Chooses the endpoint that the section shows: in this tab, also after a reload. */
export const chooseEndpoint = ({ id }) => sessionStorage.setItem(CHOSEN, id)

/** The section of the deliveries, of the chosen endpoint, or of the first one. */
export function deliveriesSection(api, { show }) {
  const place = h('div')

  async function load() {
    const data = await api.list('/webhook-endpoints')
    if (data.length > 0) return deliveriesOf(data)
    const text = 'Os avisos enviados aparecem aqui depois que você cadastrar um webhook.'
    const next = button('Ir para Webhooks', () => show('webhooks'), 'primary')
    return empty('deliveries', 'Nada foi enviado ainda', text, next)
  }

  function deliveriesOf(endpoints) {
    const list = h('div')
    let current = endpoints
    const names = webhookNames(endpoints, ({ description, url }) => description ?? url)
    const options = endpoints.map(({ id }, at) => [id, names[at]])
    const chosen = select(options, sessionStorage.getItem(CHOSEN))
    const onlyFailed = h('input', { type: 'checkbox' })
    const chosenEndpoint = () => current.find(({ id }) => id === chosen.value)
    const cardOf = (delivery) => card(delivery, chosenEndpoint(), refresh)
    const refresh = () => fillPlace(list, () => cardPages(page, cardOf, none))
    const update = () =>
      fillPlace(list, async () => {
        current = await api.list('/webhook-endpoints') // It may have begun to fail meanwhile.
        return cardPages(page, cardOf, none)
      })
    chosen.addEventListener('change', () => {
      chooseEndpoint({ id: chosen.value })
      refresh()
    })
    onlyFailed.addEventListener('change', refresh)

    function page(cursor) {
      const query = new URLSearchParams({
        limit: '20',
        ...(onlyFailed.checked && { state: 'failed' }),
        ...(cursor && { cursor }),
      })
      const path = `/webhook-endpoints/${encodeURIComponent(chosen.value)}/deliveries?${query}`
      return api.get(path)
    }

    function none() {
      if (onlyFailed.checked) {
        const text = 'Os que ainda serão repetidos estão “Na fila”, na lista de todos.'
        return empty('deliveries', 'Nenhum aviso falhou de vez', text)
      }
      const text = 'Envie um teste em Webhooks, ou espere o próximo pedido mudar.'
      const next = button('Ir para Webhooks', () => show('webhooks'), 'primary')
      return empty('deliveries', 'Nenhum aviso enviado ainda', text, next)
    }

    refresh()
    return [
      h('div', { class: 'filters' }, [
        field('Webhook', 'endpoint', chosen),
        h('label', { class: 'option' }, [onlyFailed, 'Só os que falharam']),
        button('Atualizar', update),
      ]),
      list,
    ]
  }

  function card(delivery, endpoint, refresh) {
    const { attempts, order_id: orderId, sequence } = delivery
    const last = attempts.at(-1)
    // An order may have several events of a type within a minute. A test has neither order nor
    // number.
    const event = orderId && `${orderId}, evento ${sequence}`
    const parts = [eventName(delivery.type), event, last && formatSecond(last.at)]
    const object = parts.filter(Boolean).join(', ')
    const attemptsText = `As ${attempts.length} tentativas`
    const item = h('li', { class: 'card' }, [
      h('div', { class: 'card-top' }, [
        h('h2', {}, eventName(delivery.type)),
        badge(DELIVERY_STATES[delivery.state] ?? [delivery.state, 'off']),
      ]),
      facts([
        ['Pedido', delivery.order_id && h('code', {}, delivery.order_id)],
        ['Última tentativa', last ? `${formatAgo(last.at)}: ${resultOf(last)}` : 'ainda nenhuma'],
        ['Próxima tentativa', delivery.next_at && nextOf(delivery, endpoint)],
      ]),
      h('div', { class: 'card-actions' }, [
        RESENDABLE.includes(delivery.state) && buttonOf(object)('Reenviar', resend),
        attempts.length > 1 &&
          h('details', { class: 'attempts' }, [
            h('summary', { 'aria-label': `${attemptsText}: ${object}` }, attemptsText),
            h(
              'ol',
              {},
              attempts.map((one) => h('li', {}, `${formatMoment(one.at)}: ${resultOf(one)}`)),
            ),
          ]),
      ]),
    ])

    async function resend() {
      try {
        const resent = await api.post(`/deliveries/${encodeURIComponent(delivery.id)}/resend`)
        replaceCard(item, card(resent, endpoint, refresh))
        toast(endpoint.failing_since ? `O aviso está na fila: ${RARER}.` : RESENT)
      } catch (error) {
        toastFailure(error)
        refresh()
      }
    }

    return item
  }

  fillPlace(place, load)
  return [sectionHead('Entregas', LEAD), place]
}

/** A failing endpoint gets single attempts only, so its deliveries may wait after they are due. */
function nextOf({ next_at: nextAt, order_id: orderId }, { failing_since: failingSince }) {
  if (Date.parse(nextAt) > serverNow()) return formatMoment(nextAt)
  if (failingSince) return RARER
  return orderId ? IN_ITS_TURN : 'em instantes'
}

const OUR_FAULT = 'não foi enviado, por uma falha do nosso lado'

/** Start of an error of the service → what it means; the first match counts. */
const FAILURES = [
  ['the host name resolves to', 'o endereço aponta para uma rede que não é pública'],
  ['the host name', 'o endereço não existe'],
  ['the name servers', 'o endereço não foi encontrado'],
  ['the connection was refused', 'a conexão foi recusada'],
  ['the connection ended', 'a conexão caiu'],
  ['the host is unreachable', 'não foi possível conectar'],
  ['no connection', 'não foi possível conectar'],
  ['no response', 'demorou demais'],
  ['the TLS', 'o certificado de segurança não é válido'],
  ['the URL', 'o endereço não é aceito'],
  ['the response headers', 'os cabeçalhos da resposta são grandes demais'],
  ['the response', 'a resposta não é HTTP válido'],
  ['the egress proxy', OUR_FAULT],
  ['the dispatcher', OUR_FAULT],
  ['the sender', OUR_FAULT],
  ['not sent', OUR_FAULT],
]

function resultOf({ status, error }) {
  if (status >= 200 && status < 300) return `recebido (${status})`
  if (status >= 300 && status < 400) return `${REDIRECT} (${status})`
  if (status) return `o seu sistema respondeu com o erro ${status}`
  const [, meaning] = FAILURES.find(([start]) => error?.startsWith(start)) ?? []
  return meaning ? `sem resposta (${meaning})` : 'sem resposta'
}
