import type { SourceOrder } from '../../indexing/projection/source-order.ts'
import type { Random } from '../random.ts'
import { cnpj, cnpjWithLetters, cpf, punctuated } from './documents.ts'

type Customer = SourceOrder['customer']

const givenNames = words(`
  Ana Antônio Beatriz Bruno Camila Carlos Cecília Daniela Eduardo Fernanda Flávio Gabriela
  Gustavo Helena Inês João Júlia Larissa Lívia Luís Márcia Mateus Natália Otávio Patrícia
  Rafael Renata Sérgio Thaís Vitória
`)

const surnames = words(`
  Almeida Araújo Barbosa Cardoso Carvalho Conceição Costa Dias Ferreira Gomes Gonçalves
  Lima Machado Magalhães Martins Melo Moreira Nunes Oliveira Pereira Ribeiro Rocha Santos
  Silva Souza Teixeira Vieira
`)

const trades = ['Papelaria', 'Padaria', 'Escola de Música', 'Clínica', 'Contabilidade', 'Livraria']

const areaCodes = ['11', '21', '27', '31', '41', '48', '51', '61', '71', '81', '85', '92']

const invalidDocuments = ['123.456.789', 'isento', 'FN384920', '1234567890123']

/** The document as entered at checkout; a CNPJ for a company. */
const documentForms = [
  { weight: 45, company: false, write: (random: Random) => punctuated(cpf(random)) },
  { weight: 30, company: false, write: cpf },
  { weight: 6, company: true, write: (random: Random) => punctuated(cnpj(random)) },
  { weight: 1, company: true, write: (random: Random) => punctuated(cnpjWithLetters(random)) },
  { weight: 3, company: true, write: cnpj },
  { weight: 1, company: true, write: cnpjWithLetters },
  { weight: 10, company: false, write: () => null },
  { weight: 4, company: false, write: (random: Random) => random.pick(invalidDocuments) },
]

const drawnForms = documentForms.flatMap((form) => Array<typeof form>(form.weight).fill(form))

/** Draws the full name of a person. */
export function personName(random: Random): string {
  const names = [random.pick(givenNames), random.pick(surnames), random.pick(surnames)]
  return names.join(' ')
}

/** Draws a buyer as recorded at checkout: a person, or rarely a company. */
export function buyer(random: Random): Customer {
  const form = random.pick(drawnForms)
  const name = form.company ? companyName(random) : personName(random)
  const customer = {
    name,
    email: `${mailbox(name)}.${random.between(1, 9999)}@exemplo.com.br`,
    document: form.write(random),
  }
  return random.chance(0.85) ? { ...customer, phone: phone(random) } : customer
}

function companyName(random: Random): string {
  return `${random.pick(trades)} ${random.pick(surnames)} Ltda`
}

function mailbox(name: string): string {
  const ascii = name.normalize('NFD').replace(/\p{Mark}/gu, '')
  return ascii.toLowerCase().replaceAll(' ', '.')
}

// No mobile number starts with 90000, so no demo order contains a real number.
function phone(random: Random): string {
  return `+55${random.pick(areaCodes)}90000${random.digits(4)}`
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
