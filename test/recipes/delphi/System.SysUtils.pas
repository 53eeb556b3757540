unit System.SysUtils;

{$mode delphi}

{ What the samples use of Delphi's unit of this name, as FPC's SysUtils has it. }
interface

uses
  SysUtils;

type
  Exception = SysUtils.Exception;
  TEncoding = SysUtils.TEncoding;

function GetEnvironmentVariable(const Name: string): string;
function StrToIntDef(const Text: string; Default: Integer): Integer;

implementation

function GetEnvironmentVariable(const Name: string): string;
begin
  Result := SysUtils.GetEnvironmentVariable(Name);
end;

function StrToIntDef(const Text: string; Default: Integer): Integer;
begin
  Result := SysUtils.StrToIntDef(Text, Default);
end;

end.
