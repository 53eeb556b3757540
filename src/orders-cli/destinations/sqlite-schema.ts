/** `orders` in ASCII: marks a database as one of this command. */
export const APPLICATION_ID = 0x6f726473
export const SCHEMA_VERSION = 1

/** Virtual columns of `orders`, computed from the JSON: name → path. */
const columns = {
  status: 'status',
  role: 'role',
  currency: 'currency',
  amount_total: 'amount_total',
  amount_in_brl: 'amount_in_brl',
  created_at: 'created_at',
  paid_at: 'paid_at',
  canceled_at: 'canceled_at',
  updated_at: 'updated_at',
  customer_name: 'customer.name',
  customer_email: 'customer.email',
  customer_document: 'customer.document',
  payment_method: 'payment.method',
  payment_status: 'payment.status',
  payment_amount: 'payment.amount',
  payment_fee: 'payment.fee',
  amount_refunded: 'payment.amount_refunded',
  offer_id: 'offer.id',
  promocode: 'promocode.code',
  utm_source: 'utm.utm_source',
} as const

// No STRICT and no `->>`: programs that read the file may bundle an older SQLite.
const generated = Object.entries(columns).map(
  ([name, path]) => `${name} GENERATED ALWAYS AS (json_extract(json, '$.${path}')) VIRTUAL`,
)

/** The tables; `ensureViews` creates the views. */
export const SCHEMA = `
CREATE TABLE orders (
  id TEXT PRIMARY KEY NOT NULL,
  json TEXT NOT NULL,
  seen_in INTEGER NOT NULL,
  ${generated.join(',\n  ')}
);
CREATE INDEX orders_by_created_at ON orders (created_at);
CREATE TABLE sync_state (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), json TEXT NOT NULL);
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
`
