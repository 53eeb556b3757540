/**
 * Copia os pedidos da conta para a aba "Pedidos" e a mantém em dia: uma linha por pedido, achada pelo id.
 * As propriedades do script ORDERS_API_URL e ORDERS_API_KEY dizem de onde; o README da pasta acima, como instalar.
 */
const ABA = 'Pedidos'
const SOBREPOSICAO_MS = 60 * 1000
/** O Google encerra uma execução em 6 minutos; antes disso paramos, e a próxima continua. */
const PRAZO_MS = 4.5 * 60 * 1000
/** Quantas vezes uma execução recomeça a leitura cujo cursor a API recusou. */
const MAX_RECOMECOS = 3

// O apóstrofo guarda o texto como está: sem ele a planilha calcularia um nome que comece com "=" e comeria o
// zero da frente de um CPF. Ele não aparece na célula, que aceita até 50.000 caracteres.
const texto = (valor) => (valor === null ? '' : `'${String(valor).slice(0, 49999)}`)
const instante = (valor) => (valor === null ? '' : new Date(valor))
const valor = (centavos) => (centavos === null ? '' : centavos / 100)

const COLUNAS = [
  ['id', (pedido) => texto(pedido.id)],
  ['papel', (pedido) => texto(pedido.role)],
  ['status', (pedido) => texto(pedido.status)],
  ['moeda', (pedido) => texto(pedido.currency)],
  ['total', (pedido) => valor(pedido.amount_total)],
  ['total em reais', (pedido) => valor(pedido.amount_in_brl)],
  ['criado em', (pedido) => instante(pedido.created_at)],
  ['pago em', (pedido) => instante(pedido.paid_at)],
  ['atualizado em', (pedido) => instante(pedido.updated_at)],
  ['cliente', (pedido) => texto(pedido.customer.name)],
  ['e-mail', (pedido) => texto(pedido.customer.email)],
  ['documento', (pedido) => texto(pedido.customer.document)],
  ['método', (pedido) => texto(pedido.payment.method)],
  ['status do pagamento', (pedido) => texto(pedido.payment.status)],
  ['parcelas', (pedido) => pedido.payment.installments ?? ''],
  ['reembolsado', (pedido) => valor(pedido.payment.amount_refunded)],
  ['produtos', (pedido) => texto(pedido.items.map((item) => `${item.quantity} × ${item.name}`).join('; '))],
]

/** Rode uma vez: sincroniza a cada 10 minutos daqui em diante. */
function instalar() {
  for (const gatilho of ScriptApp.getProjectTriggers()) {
    if (gatilho.getHandlerFunction() === 'sincronizar') ScriptApp.deleteTrigger(gatilho)
  }
  ScriptApp.newTrigger('sincronizar').timeBased().everyMinutes(10).create()
}

/** Traz o que mudou; na primeira vez, todos os pedidos, em quantas execuções for preciso. */
function sincronizar() {
  comTrava(ler) // Sem a trava, outra execução ainda está lendo, e não há o que fazer.
}

/** Esvazia a aba e lê tudo de novo: o que a conta já não tem some. De vez em quando vale a pena. */
function recomecar() {
  const teveVez = comTrava((prazo) => {
    // A aba só é esvaziada com a API no ar.
    if (buscar('account', {}, prazo) === null) throw new Recusa('A API pede para esperar. Nada mudou; tente mais tarde.')
    // Primeiro o estado: se parar aqui, a próxima leitura começa do início e nada falta.
    PropertiesService.getScriptProperties().deleteProperty('ESTADO')
    const aba = abrirAba()
    if (aba.getLastRow() > 1) aba.getRange(2, 1, aba.getLastRow() - 1, COLUNAS.length).clearContent()
    SpreadsheetApp.flush()
    ler(prazo)
  })
  if (!teveVez) throw new Error('Outra leitura está em curso; tente de novo daqui a 5 minutos.')
}

/** Uma leitura por vez: duas trocariam o estado uma da outra, e linhas se perderiam. Diz se teve a vez. */
function comTrava(fazer) {
  const trava = LockService.getScriptLock()
  if (!trava.tryLock(1000)) return false
  try {
    fazer(Date.now() + PRAZO_MS)
  } finally {
    trava.releaseLock()
  }
  return true
}

function ler(prazo) {
  const propriedades = PropertiesService.getScriptProperties()
  const estado = JSON.parse(propriedades.getProperty('ESTADO') ?? '{"cursor":null,"desde":null,"maior":null}')
  const chave = buscar('account', {}, prazo)
  if (chave === null) return
  // Outra chave da mesma conta continua; a de outra conta, ou do sandbox, deixaria de fora o que é mais antigo.
  const conta = `${chave.id}${chave.test ? ' (sandbox)' : ''}`
  estado.conta = estado.conta ?? conta
  if (estado.conta !== conta) {
    throw new Recusa(`A aba é de ${estado.conta}, e a chave, de ${conta}: rode recomecar para ler tudo com esta chave.`)
  }
  const aba = abrirAba()
  let linhas = linhasPorId(aba)
  // Alguém pode ter apagado, renomeado ou esvaziado a aba: a posição deixaria de fora os pedidos mais antigos.
  if (linhas.size === 0) Object.assign(estado, { cursor: null, maior: null })
  // Sem cursor começa uma leitura nova; com ele, continua a que ficou no meio.
  if (estado.cursor === null) {
    estado.desde = estado.maior && new Date(Date.parse(estado.maior) - SOBREPOSICAO_MS).toISOString()
  }
  let recomecos = 0

  for (let haMais = true; haMais && Date.now() < prazo; ) {
    const filtros = { sort: 'updated_at_asc', limit: 100 }
    if (estado.desde) filtros.updated_gte = estado.desde
    if (estado.cursor) filtros.cursor = estado.cursor
    const pagina = buscar('orders', filtros, prazo)
    if (pagina === null) return // Não deu tempo; a próxima execução pede a mesma página.
    if (pagina.cursorRecusado) {
      recomecos += 1
      if (recomecos > MAX_RECOMECOS) throw new Recusa(pagina.cursorRecusado)
      estado.cursor = null // A mesma leitura, do começo.
      continue
    }
    if (!conferem(aba, linhas, pagina.data)) linhas = linhasPorId(aba)
    gravar(aba, linhas, pagina.data)
    for (const { updated_at } of pagina.data) {
      if (updated_at !== null && updated_at > (estado.maior ?? '')) estado.maior = updated_at
    }
    estado.cursor = pagina.next_cursor
    haMais = pagina.has_more
    // Só depois que a página está na planilha.
    SpreadsheetApp.flush()
    propriedades.setProperty('ESTADO', JSON.stringify(estado))
  }
}

function abrirAba() {
  const planilha = SpreadsheetApp.getActiveSpreadsheet()
  const aba = planilha.getSheetByName(ABA) ?? criarAba(planilha)
  aba.getRange(1, 1, 1, COLUNAS.length).setValues([COLUNAS.map(([titulo]) => titulo)])
  return aba
}

function criarAba(planilha) {
  const aba = planilha.insertSheet(ABA)
  // As colunas sem uso também contam no máximo de células da planilha.
  const sobram = aba.getMaxColumns() - COLUNAS.length
  if (sobram > 0) aba.deleteColumns(COLUNAS.length + 1, sobram)
  return aba
}

function linhasPorId(aba) {
  const quantas = aba.getLastRow() - 1
  const ids = quantas > 0 ? aba.getRange(2, 1, quantas, 1).getValues() : []
  return new Map(ids.map(([id], indice) => [id, indice + 2]))
}

/**
 * Se as linhas a sobrescrever ainda são desses pedidos: alguém pode ter ordenado a aba desde que foram lidas. Lê só
 * o intervalo delas, porque a coluna inteira é lenta numa aba grande. Pedidos novos vão para o fim de qualquer forma.
 */
function conferem(aba, linhas, pedidos) {
  const conhecidos = pedidos.filter(({ id }) => linhas.has(id))
  if (conhecidos.length === 0) return true
  const numeros = conhecidos.map(({ id }) => linhas.get(id))
  const primeira = Math.min(...numeros)
  const ultima = Math.max(...numeros)
  if (ultima > aba.getLastRow()) return false // Alguém apagou linhas.
  const ids = aba.getRange(primeira, 1, ultima - primeira + 1, 1).getValues()
  return conhecidos.every(({ id }) => ids[linhas.get(id) - primeira][0] === id)
}

/** Um pedido que já tem linha fica nela; os outros vão para o fim, de uma vez. */
function gravar(aba, linhas, pedidos) {
  const novas = []
  const ultima = aba.getLastRow()
  for (const pedido of pedidos) {
    const celulas = COLUNAS.map(([, ler]) => ler(pedido))
    const linha = linhas.get(pedido.id)
    if (linha === undefined) {
      novas.push(celulas)
      linhas.set(pedido.id, ultima + novas.length)
    } else if (linha > ultima) {
      novas[linha - ultima - 1] = celulas // Veio duas vezes na mesma página: vale a última.
    } else {
      aba.getRange(linha, 1, 1, COLUNAS.length).setValues([celulas])
    }
  }
  if (novas.length === 0) return
  const faltam = ultima + novas.length - aba.getMaxRows()
  if (faltam > 0) aba.insertRowsAfter(aba.getMaxRows(), faltam)
  aba.getRange(ultima + 1, 1, novas.length, COLUNAS.length).setValues(novas)
}

/** A resposta, ou null se um 429 pede uma espera que passa do prazo. Outra falha que dura até lá é um erro. */
function buscar(caminho, filtros, prazo) {
  const consulta = Object.entries(filtros).map(([nome, valor]) => `${nome}=${encodeURIComponent(valor)}`)
  const url = `${propriedade('ORDERS_API_URL').replace(/\/+$/, '')}/v1/${caminho}?${consulta.join('&')}`
  const opcoes = {
    headers: { Authorization: `Bearer ${propriedade('ORDERS_API_KEY')}` },
    muteHttpExceptions: true,
    followRedirects: false, // Um redirecionamento não leva a chave.
  }
  for (let tempoMs = 1000; ; tempoMs *= 2) {
    let esperaMs = tempoMs
    let motivo
    try {
      const resposta = UrlFetchApp.fetch(url, opcoes)
      motivo = resposta.getResponseCode()
      if (motivo === 200) return JSON.parse(resposta.getContentText())
      if (motivo !== 429 && motivo < 500) return recusar(motivo, resposta.getContentText(), filtros)
      // Espera o maior entre Retry-After e um tempo que dobra.
      esperaMs = Math.max(retryAfterMs(resposta), tempoMs)
    } catch (falha) {
      if (falha instanceof Recusa) throw falha
      motivo = falha // Rede fora, resposta cortada, ou a página de um portal de rede.
      console.warn(String(falha))
    }
    if (Date.now() + esperaMs >= prazo) {
      if (motivo !== 429) {
        throw new Recusa(`A API não respondeu (${motivo}). Confira ORDERS_API_URL; ao rodar de novo, continua daqui.`)
      }
      console.warn(`A API pede para esperar ${esperaMs / 1000} s: a próxima execução continua daqui.`)
      return null
    }
    Utilities.sleep(esperaMs)
  }
}

class Recusa extends Error {}

/** O que esperar não conserta; a borda recusa sem JSON, e outro servidor, com o seu. */
function recusar(status, corpo, filtros) {
  let erro = null
  try {
    erro = JSON.parse(corpo).error
  } catch (_) {}
  if (!erro || !erro.message) {
    throw new Recusa(`A API recusou com ${status}, sem dizer por quê. Confira se ORDERS_API_URL começa com https://.`)
  }
  const motivo = `${status} ${erro.message} (request_id ${erro.request_id})`
  if (erro.param === 'cursor' && filtros.cursor) return { cursorRecusado: motivo }
  throw new Recusa(motivo)
}

function retryAfterMs(resposta) {
  const cabecalhos = Object.entries(resposta.getHeaders())
  const achado = cabecalhos.find(([nome]) => nome.toLowerCase() === 'retry-after')
  return achado && /^\d+$/.test(achado[1]) ? Number(achado[1]) * 1000 : 0
}

function propriedade(nome) {
  const valor = PropertiesService.getScriptProperties().getProperty(nome)
  if (!valor) throw new Recusa(`Falta a propriedade do script ${nome}: Configurações do projeto → Propriedades do script.`)
  return valor
}
