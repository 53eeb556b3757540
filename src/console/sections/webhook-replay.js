import { serverNow } from '../api.js'
import { toast } from '../ui/components.js'
import { field, openForm, select } from '../ui/dialogs.js'
import { formatMoment, formatNumber } from '../ui/format.js'

const HOUR_MS = 3_600_000
const PERIODS = [
  [HOUR_MS, 'na última hora'],
  [24 * HOUR_MS, 'no último dia'],
  [72 * HOUR_MS, 'nos últimos 3 dias'],
  [168 * HOUR_MS, 'nos últimos 7 dias'],
]
const SAME_ID =
  'só chegam se você os repetir. Cada um leva o mesmo “webhook-id”, e o seu sistema ignora os que já tratou.'

/** Offers a replay of what failed before a webhook was enabled, which enabling does not send. */
export const offerReplay = ({ name, since, replay, refresh }) =>
  openForm({
    title: 'Repetir os avisos que falharam?',
    intro: `O webhook ${name} está ativo, e os avisos guardados serão enviados. Os que falharam de vez ${SAME_ID} Dá para repetir depois, em “Mais”.`,
    dismiss: 'Agora não',
    ...form(since, replay, refresh),
  })

/** Asks since when to replay what failed. `since`: the start of the failures, or `null`. */
export const openReplay = ({ name, since, replay, refresh }) =>
  openForm({
    title: 'Repetir avisos que falharam',
    intro: `Os avisos de ${name} que falharam de vez ${SAME_ID}`,
    ...form(since, replay, refresh),
  })

function form(since, replay, refresh) {
  // Of the opening: the form sends the same instant again.
  const nowMs = serverNow()
  const failing = since && [[since, `desde ${formatMoment(since)}, quando as falhas começaram`]]
  const periods = PERIODS.map(([ms, text]) => [new Date(nowMs - ms).toISOString(), text])
  return {
    fields: [field('Os que falharam', 'since', select([...(failing ?? []), ...periods]))],
    action: 'Repetir avisos',
    refresh,
    async submit(data, idempotencyKey) {
      const { replayed } = await replay({ since: data.get('since'), failed: true }, idempotencyKey)
      toast(replayedText(replayed))
    },
  }
}

function replayedText(count) {
  if (count === 0) return 'Nenhum aviso tinha falhado de vez.'
  return count === 1 ? '1 aviso será repetido.' : `${formatNumber(count)} avisos serão repetidos.`
}
