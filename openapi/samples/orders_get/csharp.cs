// Busca um pedido: dotnet run ord_…  .NET 8 ou mais novo, sem pacotes: o Program.cs de "dotnet new console".
using System.Net.Http.Headers;
using System.Text.Json;

var url = Environment.GetEnvironmentVariable("ORDERS_API_URL");
using var http = new HttpClient { Timeout = TimeSpan.FromSeconds(30) };
http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
    "Bearer", Environment.GetEnvironmentVariable("ORDERS_API_KEY"));

for (var attempt = 0; ; attempt++)
{
    using var response = await http.GetAsync($"{url}/v1/orders/{Uri.EscapeDataString(args[0])}");
    var body = await response.Content.ReadAsStringAsync();
    if (response.IsSuccessStatusCode)
    {
        using var order = JsonDocument.Parse(body);
        Console.WriteLine(order.RootElement.GetProperty("status").GetString());
        Console.WriteLine(body);
        break;
    }
    // Só vale repetir 429 e 5xx. Sem Retry-After, a espera dobra a cada vez.
    var status = (int)response.StatusCode;
    var worthRepeating = status == 429 || status >= 500;
    if (!worthRepeating || attempt == 5) throw new HttpRequestException($"{status} {body}");
    await Task.Delay(response.Headers.RetryAfter?.Delta ?? TimeSpan.FromSeconds(1 << attempt));
}
