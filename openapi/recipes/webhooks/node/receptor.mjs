// Recebe os webhooks da API de pedidos e guarda cada pedido num arquivo SQLite.
// Node 22.13 ou mais novo e o pacote public-orders-client. O README da pasta acima diz como rodar.
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook, WebhookVerificationError } from 'public-orders-client'

// Dois segredos, separados por espaço, durante uma troca.
const secrets = (process.env.ORDERS_WEBHOOK_SECRET ?? '').split(/\s+/).filter(Boolean)
if (secrets.length === 0) throw new Error('Falta a variável de ambiente ORDERS_WEBHOOK_SECRET.')
const LARGEST_BODY = 1_048_576

process.umask(0o077) // Só este usuário lê o arquivo novo, que tem dados pessoais.
const database = new DatabaseSync(process.env.ORDERS_DB ?? 'webhooks.db')
database.exec(`
  CREATE TABLE IF NOT EXISTS eventos (id TEXT PRIMARY KEY, recebido_em INTEGER);
  CREATE INDEX IF NOT EXISTS eventos_por_data ON eventos (recebido_em);
  CREATE TABLE IF NOT EXISTS pedidos (id TEXT PRIMARY KEY, sequence INTEGER, buscar INTEGER, pedido TEXT);
`)
const columns = database.prepare('PRAGMA table_info(pedidos)').all()
if (!columns.some(({ name }) => name === 'timestamp')) {
  database.exec("ALTER TABLE pedidos ADD COLUMN timestamp TEXT NOT NULL DEFAULT ''")
}
const rememberEvent = database.prepare('INSERT OR IGNORE INTO eventos VALUES (?, unixepoch())')
const forgetOldEvents = database.prepare(
  'DELETE FROM eventos WHERE recebido_em < unixepoch() - 90 * 86400',
)
// Um evento mais antigo que o guardado não muda nada: o timestamp decide primeiro, porque a sequence pode recomeçar.
// Uma linha de antes de haver timestamp tem '': só a sequence decide. Um evento sem o pedido (thin) marca que falta buscá-lo.
const keepOrder = database.prepare(`
  INSERT INTO pedidos (id, timestamp, sequence, buscar, pedido)
  VALUES (:id, :timestamp, :sequence, :buscar, :pedido)
  ON CONFLICT (id) DO UPDATE SET timestamp = :timestamp, sequence = :sequence, buscar = :buscar,
    pedido = CASE WHEN :buscar THEN pedidos.pedido ELSE :pedido END
  WHERE CASE pedidos.timestamp WHEN '' THEN :sequence > pedidos.sequence
    ELSE (:timestamp, :sequence) > (pedidos.timestamp, pedidos.sequence) END
`)

/** Guarda o evento e o pedido: os dois ou nenhum. Diz se havia algo novo. */
function keep({ id, type, order_id, timestamp, sequence, data }) {
  database.exec('BEGIN IMMEDIATE')
  try {
    const isNew = rememberEvent.run(id).changes > 0
    let hasChanged = false
    if (isNew && order_id !== null) {
      // De um pedido removido ficam só timestamp e sequence, para que um evento antigo não o traga de volta.
      const isRemoved = type === 'order.removed'
      const { changes } = keepOrder.run({
        id: order_id,
        timestamp,
        sequence,
        buscar: isRemoved || data ? 0 : 1,
        pedido: isRemoved || !data ? null : JSON.stringify(data),
      })
      hasChanged = changes > 0
    }
    forgetOldEvents.run()
    database.exec('COMMIT')
    return hasChanged
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}

async function answer(request) {
  if (request.method !== 'POST') return 405
  if (!(Number(request.headers['content-length']) <= LARGEST_BODY)) return 413
  try {
    // Os bytes exatos: um JSON interpretado e gerado de novo tem outra assinatura.
    const event = await verifyWebhook(await buffer(request), request.headers, secrets)
    // O trabalho demorado vem depois da resposta, a partir do que está no banco.
    if (keep(event)) setImmediate(() => console.log(event.type, event.order_id))
    return 204
  } catch (error) {
    console.error(error.message)
    return error instanceof WebhookVerificationError ? 400 : 500 // 500: a API tenta de novo.
  }
}

const server = createServer(async (request, response) => {
  response.writeHead(await answer(request)).end()
})
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.error(`escutando em http://127.0.0.1:${server.address().port}/`)
})
