//! The built-in cues.

use super::support_cue::SupportCue;

/// Rows of language, kind and cues. Cues are separated by spaces; `_` stands for a space within a cue.
#[rustfmt::skip]
pub const SUPPORT_CUES: &[(&str, SupportCue, &str)] = &[
    ("en", SupportCue::Negation, "not no never none nor neither without cannot nobody nothing nowhere hardly scarcely rarely \
        unable fail fails failed lack lacks lacking n't"),
    ("en", SupportCue::NoNegation, "not_only not_just not_merely no_more_than no_less_than no_fewer_than no_later_than no_doubt none_other_than \
        no_information no_mention not_have_information not_have_any_information not_have_much_information not_have_enough_information \
        not_mention not_mentioned not_specify not_specified"),
    ("en", SupportCue::Decimal, "."),
    ("en", SupportCue::Number, "zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13 \
        fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50 \
        sixty=60 seventy=70 eighty=80 ninety=90 half=0.5 a_hundred=100 a_thousand=1000 a_million=1000000 \
        a_billion=1000000000 a_dozen=12 half_a_dozen=6 half_a_million=500000 and="),
    ("en", SupportCue::Scale, "hundred=100 thousand=1000 million=1000000 billion=1000000000 trillion=1000000000000 dozen=12 k=1000 m=1000000 \
        b=1000000000 mn=1000000 bn=1000000000 tn=1000000000000"),
    ("en", SupportCue::Measure, "percent=% per_cent=% gram=g grams=g kilogram=kg kilograms=kg milligram=mg milligrams=mg ounce=oz ounces=oz \
        metre=m metres=m meter=m meters=m kilometre=km kilometres=km kilometer=km kilometers=km centimetre=cm \
        centimetres=cm centimeter=cm centimeters=cm millimetre=mm millimetres=mm millimeter=mm millimeters=mm mile=mi \
        miles=mi foot=ft feet=ft inch=in inches=in litre=l litres=l liter=l liters=l millilitre=ml millilitres=ml \
        milliliter=ml milliliters=ml second=s seconds=s minute=min minutes=min hour=h hours=h day=d days=d week=wk \
        weeks=wk month=mo months=mo year=yr years=yr degrees_celsius=°C degrees_fahrenheit=°F dollar=$ dollars=$ \
        euro=€ euros=€ yen=¥ kilobyte=kB kilobytes=kB megabyte=MB megabytes=MB gigabyte=GB gigabytes=GB terabyte=TB \
        terabytes=TB watt=W watts=W volt=V volts=V"),
    ("de", SupportCue::Negation, "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts nirgends weder ohne kaum"),
    ("de", SupportCue::NoNegation, "nicht_nur nicht_bloß nicht_mehr_als nicht_weniger_als"),
    ("de", SupportCue::Decimal, ","),
    ("de", SupportCue::Number, "null=0 eins=1 zwei=2 drei=3 vier=4 fünf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 zwölf=12 dreizehn=13 \
        vierzehn=14 fünfzehn=15 sechzehn=16 siebzehn=17 achtzehn=18 neunzehn=19 zwanzig=20 dreißig=30 vierzig=40 \
        fünfzig=50 sechzig=60 siebzig=70 achtzig=80 neunzig=90 hundert=100 tausend=1000 eine_million=1000000 \
        eine_milliarde=1000000000 ein_dutzend=12 zweimal=2 dreimal=3 viermal=4 fünfmal=5 sechsmal=6 \
        siebenmal=7 achtmal=8 neunmal=9 zehnmal=10"),
    ("de", SupportCue::Scale, "hundert=100 tausend=1000 million=1000000 millionen=1000000 milliarde=1000000000 milliarden=1000000000 \
        dutzend=12 mio=1000000 mrd=1000000000"),
    ("de", SupportCue::Measure, "prozent=% gramm=g kilogramm=kg kilo=kg milligramm=mg meter=m metern=m kilometer=km kilometern=km zentimeter=cm \
        zentimetern=cm millimeter=mm millimetern=mm liter=l litern=l sekunde=s sekunden=s minute=min minuten=min \
        stunde=h stunden=h tag=d tage=d tagen=d woche=wk wochen=wk monat=mo monate=mo monaten=mo jahr=yr jahre=yr \
        jahren=yr grad_celsius=°C euro=€ dollar=$"),
    ("fr", SupportCue::Negation, "pas jamais aucun aucune rien personne sans ni nulle guère"),
    ("fr", SupportCue::NoNegation, "pas_seulement pas_plus_de pas_moins_de"),
    ("fr", SupportCue::Decimal, ","),
    ("fr", SupportCue::Number, "deux=2 trois=3 quatre=4 cinq=5 six=6 sept=7 huit=8 dix=10 onze=11 douze=12 treize=13 quatorze=14 \
        quinze=15 seize=16 vingt=20 trente=30 quarante=40 cinquante=50 soixante=60 cent=100"),
    ("fr", SupportCue::Scale, "mille=1000 million=1000000 millions=1000000 milliard=1000000000 milliards=1000000000"),
    ("fr", SupportCue::Measure, "pour_cent=% euro=€ euros=€ dollar=$ dollars=$"),
    ("es", SupportCue::Negation, "no nunca jamás ningún ninguno ninguna nadie nada ni sin tampoco"),
    ("es", SupportCue::NoNegation, "no_solo no_sólo no_más_de no_menos_de"),
    ("es", SupportCue::Decimal, ","),
    ("es", SupportCue::Number, "dos=2 tres=3 cuatro=4 cinco=5 seis=6 siete=7 ocho=8 nueve=9 diez=10 once=11 doce=12 trece=13 \
        catorce=14 quince=15 veinte=20 treinta=30 cuarenta=40 cincuenta=50 sesenta=60 setenta=70 ochenta=80 \
        noventa=90 cien=100"),
    ("es", SupportCue::Scale, "mil=1000 millón=1000000 millones=1000000"),
    ("es", SupportCue::Measure, "por_ciento=% euro=€ euros=€ dólar=$ dólares=$"),
    ("it", SupportCue::Negation, "non mai nessun nessuno nessuna niente nulla né senza neanche nemmeno neppure"),
    ("it", SupportCue::Decimal, ","),
    ("it", SupportCue::Number, "due=2 tre=3 quattro=4 cinque=5 sette=7 otto=8 nove=9 dieci=10 undici=11 dodici=12 tredici=13 \
        quattordici=14 quindici=15 venti=20 trenta=30 quaranta=40 cinquanta=50 sessanta=60 settanta=70 \
        ottanta=80 novanta=90 cento=100"),
    ("it", SupportCue::Scale, "milione=1000000 milioni=1000000 miliardo=1000000000 miliardi=1000000000"),
    ("it", SupportCue::Measure, "per_cento=% euro=€ dollari=$"),
    ("pt", SupportCue::Negation, "não nunca jamais nenhum nenhuma ninguém nada nem sem tampouco"),
    ("pt", SupportCue::Decimal, ","),
    ("pt", SupportCue::Number, "dois=2 duas=2 três=3 quatro=4 cinco=5 seis=6 sete=7 oito=8 nove=9 dez=10 onze=11 doze=12 treze=13 \
        catorze=14 quinze=15 vinte=20 trinta=30 quarenta=40 cinquenta=50 sessenta=60 setenta=70 oitenta=80 \
        noventa=90 cem=100"),
    ("pt", SupportCue::Scale, "mil=1000 milhão=1000000 milhões=1000000 bilhão=1000000000 bilhões=1000000000"),
    ("pt", SupportCue::Measure, "por_cento=% euro=€ euros=€ dólar=$ dólares=$"),
    ("nl", SupportCue::Negation, "niet geen nooit niemand niets nergens noch zonder nauwelijks"),
    ("nl", SupportCue::Decimal, ","),
    ("nl", SupportCue::Number, "twee=2 drie=3 vier=4 vijf=5 zes=6 zeven=7 acht=8 negen=9 tien=10 elf=11 twaalf=12 dertien=13 \
        veertien=14 vijftien=15 twintig=20 dertig=30 veertig=40 vijftig=50 zestig=60 zeventig=70 tachtig=80 \
        negentig=90 honderd=100 tweemaal=2 driemaal=3"),
    ("nl", SupportCue::Scale, "duizend=1000 miljoen=1000000 miljard=1000000000"),
    ("nl", SupportCue::Measure, "procent=% euro=€ dollar=$"),
    ("ru", SupportCue::Negation, "не нет ни никогда никто ничто ничего нигде без нельзя"),
    ("ru", SupportCue::Decimal, ","),
    ("ru", SupportCue::Number, "два=2 две=2 двух=2 три=3 трёх=3 трех=3 четыре=4 пять=5 шесть=6 семь=7 восемь=8 девять=9 десять=10 \
        двенадцать=12 пятнадцать=15 двадцать=20 тридцать=30 сорок=40 пятьдесят=50 сто=100 дважды=2 трижды=3"),
    ("ru", SupportCue::Scale, "тыс=1000 тысяч=1000 тысячи=1000 млн=1000000 миллион=1000000 миллиона=1000000 миллионов=1000000 млрд=1000000000 \
        миллиард=1000000000 миллиарда=1000000000 миллиардов=1000000000"),
    ("ru", SupportCue::Measure, "процент=% процента=% процентов=% евро=€ рублей=₽ долларов=$"),
    ("zh", SupportCue::Negation, "不 没 沒 未 无 無 并非 並非 否认 否認"),
    ("zh", SupportCue::NoNegation, "不同 不仅 不僅 不但 不断 不斷 不过 不過 不管 不论 不論 不少 不久 不禁 差不多 未来 未來 无论 無論"),
    ("zh", SupportCue::Decimal, "."),
    ("zh", SupportCue::Scale, "百万=1000000 百萬=1000000 千万=10000000 千萬=10000000 万=10000 萬=10000 亿=100000000 億=100000000"),
    ("ja", SupportCue::Negation, "ない なかっ ません 不 未 無 非"),
    ("ja", SupportCue::NoNegation, "少ない 非常 未来 不思議 かもしれない かもしれません"),
    ("ja", SupportCue::Decimal, "."),
    ("ja", SupportCue::Scale, "百万=1000000 千万=10000000 万=10000 億=100000000 兆=1000000000000"),
];
