curl --fail-with-body -H "Authorization: Bearer $ORDERS_API_KEY" "$ORDERS_API_URL/v1/account"
